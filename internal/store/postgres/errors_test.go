package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"sightline/internal/fault"
)

func TestExplain(t *testing.T) {
	kinds := []error{fault.NotFound, fault.Unavailable, fault.Full}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, test := range []struct {
		name string
		ctx  context.Context
		err  error
		want error
	}{
		{"no rows", t.Context(), pgx.ErrNoRows, fault.NotFound},
		{"foreign key", t.Context(), &pgconn.PgError{Code: "23503"}, fault.NotFound},
		{"connection failure", t.Context(), &pgconn.PgError{Code: "08006"}, fault.Unavailable},
		{"too many connections", t.Context(), &pgconn.PgError{Code: "53300"}, fault.Unavailable},
		{"disk full", t.Context(), &pgconn.PgError{Code: "53100"}, fault.Full},
		{"admin shutdown", t.Context(), &pgconn.PgError{Code: "57P01"}, fault.Unavailable},
		{"starting up", t.Context(), &pgconn.PgError{Code: "57P03"}, fault.Unavailable},
		{"statement timeout", t.Context(), &pgconn.PgError{Code: "57014"}, fault.Unavailable},
		{"lock timeout", t.Context(), &pgconn.PgError{Code: "55P03"}, fault.Unavailable},
		{"serialization", t.Context(), &pgconn.PgError{Code: "40001"}, fault.Unavailable},
		{"deadlock", t.Context(), &pgconn.PgError{Code: "40P01"}, fault.Unavailable},
		{"standby", t.Context(), &pgconn.PgError{Code: "25006"}, fault.Unavailable},
		{"syntax error", t.Context(), &pgconn.PgError{Code: "42601"}, nil},
		{"other unique value", t.Context(), &pgconn.PgError{Code: "23505"}, nil},
		{"connect", t.Context(), &pgconn.ConnectError{}, fault.Unavailable},
		{"conn closed", t.Context(), pgconn.ErrConnClosed, fault.Unavailable},
		{"cancelled", ended, context.Canceled, context.Canceled},
		{"cancelled by the server", ended, &pgconn.PgError{Code: "57014"}, context.Canceled},
	} {
		err := new(DB).explain(test.ctx, "website 7", fmt.Errorf("wrapped: %w", test.err))
		if test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
		for _, kind := range kinds {
			if kind != test.want && errors.Is(err, kind) {
				t.Errorf("%s: %v is also %v", test.name, err, kind)
			}
		}
	}
	if err := new(DB).explain(t.Context(), "website 7", pgx.ErrNoRows); err.Error() != "website 7: not found" {
		t.Errorf("a missing website is %q", err)
	}
}

func TestParse(t *testing.T) {
	for _, test := range []struct {
		url                  string
		conns                int32
		timeout              string
		application, command string
	}{
		{"postgres://h/d", 16, "5s", "sightline", "10s"},
		{"postgresql://h/d?application_name=blue", 16, "5s", "blue", "10s"},
		{"postgres://h/d?pool_max_conns=3&connect_timeout=2", 3, "2s", "sightline", "10s"},
		{"postgres://h/d?statement_timeout=1s", 16, "5s", "sightline", "1s"},
		{"postgres://h/d?options=-c%20statement_timeout%3D1s", 16, "5s", "sightline", ""},
	} {
		config, err := parse(test.url)
		if err != nil {
			t.Errorf("%s: %v", test.url, err)
			continue
		}
		params := config.ConnConfig.RuntimeParams
		got := fmt.Sprintln(config.MaxConns, config.ConnConfig.ConnectTimeout, params["application_name"], params["statement_timeout"])
		if want := fmt.Sprintln(test.conns, test.timeout, test.application, test.command); got != want {
			t.Errorf("%s: %s, want %s", test.url, got, want)
		}
	}
}
