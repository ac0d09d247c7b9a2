package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"sightline/internal/fault"
	"sightline/internal/seo"
)

// asItIs is an error that is an answer already.
type asItIs struct{ error }

// explain turns a failure of the driver into one of the kinds in package fault, if it is of one.
// what names the record or the operation that failed.
func (db *DB) explain(ctx context.Context, what string, err error) error {
	var answer asItIs
	var refusal *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &answer):
		return answer.error
	case errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("%s: %w", what, fault.NotFound)
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", what, ctx.Err())
	case db.closed.Load() || disconnected(err):
		return fmt.Errorf("%s: %w: %w", what, fault.Unavailable, err)
	case errors.As(err, &refusal):
		return explainRefusal(what, refusal)
	default:
		return fmt.Errorf("%s: %w", what, err)
	}
}

// disconnected says that the failure lies in the connection and not in what was asked.
func disconnected(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) || pgconn.Timeout(err) || errors.Is(err, pgconn.ErrConnClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// explainRefusal does what explain does for an answer of the server, which it tells apart by SQLSTATE.
func explainRefusal(what string, refusal *pgconn.PgError) error {
	switch refusal.Code {
	case "23505": // unique_violation
		if answer := taken(refusal.ConstraintName); answer != nil {
			return answer
		}
	case "23503": // foreign_key_violation: every foreign key names the account
		return fmt.Errorf("%s: account: %w", what, fault.NotFound)
	case "53100": // disk_full
		return fmt.Errorf("%s: %w: %w", what, fault.Full, refusal)
	case "40001", "40P01", // serialization_failure, deadlock_detected
		"55P03", "57014", // lock_not_available, query_canceled: both are timeouts
		"25006": // read_only_sql_transaction: a standby, until it is promoted
		return fmt.Errorf("%s: %w: %w", what, fault.Unavailable, refusal)
	}
	for _, class := range []string{"08", "53", "57P"} { // connection_exception, insufficient_resources, shutdown
		if strings.HasPrefix(refusal.Code, class) {
			return fmt.Errorf("%s: %w: %w", what, fault.Unavailable, refusal)
		}
	}
	return fmt.Errorf("%s: %w", what, refusal)
}

// taken is the answer to a value that must be unique and is not.
func taken(constraint string) error {
	switch constraint {
	case "accounts_email":
		return fault.Field("email", "has an account already")
	case "keys_hash":
		return fault.Field("key", "exists already")
	case "projects_name":
		return seo.ErrNameTaken
	default:
		return nil
	}
}

// reason says in a few words, on one line, why the database could not be opened.
func reason(err error) string {
	var refusal *pgconn.PgError
	var lookup *net.DNSError
	var errno syscall.Errno
	switch {
	case errors.As(err, &refusal):
		return strings.Join(strings.Fields(refusal.Message), " ")
	case errors.As(err, &lookup):
		return lookup.Err
	case errors.As(err, &errno):
		return errno.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "it does not answer in time"
	default:
		return strings.Join(strings.Fields(innermost(err).Error()), " ")
	}
}

// innermost is what lies behind all the wrapping.
func innermost(err error) error {
	for {
		switch wrapper := err.(type) {
		case interface{ Unwrap() error }:
			inner := wrapper.Unwrap()
			if inner == nil {
				return err
			}
			err = inner
		case interface{ Unwrap() []error }:
			inner := wrapper.Unwrap()
			if len(inner) == 0 {
				return err
			}
			err = inner[len(inner)-1]
		default:
			return err
		}
	}
}
