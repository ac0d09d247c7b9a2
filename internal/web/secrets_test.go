package web_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/crypto/argon2"

	"sightline/internal/store/postgres/pgtest"
)

const sitePassword = "correct horse battery staple"

// useSecrets lets a key and a password pass through the server in every place where they might leave a trace.
func useSecrets(s *server) {
	s.want(s.form("POST", s.analytics+"/api/v1/websites", "url=https://example.com&privacy=2&password="+strings.ReplaceAll(sitePassword, " ", "+")), 201)
	s.want(s.form("PUT", s.analytics+"/api/v1/websites/1", "password=%00"+sitePassword[:7]), 422)
	s.want(s.form("GET", s.analytics+"/api/v1/websites/"+s.key, ""), 404)
	s.want(s.form("GET", s.analytics+"/"+s.key+"/x", ""), 404)
	s.want(s.form("GET", s.seo+"/api/v1/projects/"+s.key, ""), 404)
	s.want(s.form("GET", s.seo+"/api/v1/projects?search="+s.key+"&api_key="+s.key, ""), 200)
	s.want(s.form("GET", s.seo+"/api/v1/projects?search=%zz"+s.key, ""), 400)
	s.want(s.do("GET", s.seo+"/api/v1/projects", "", "Authorization: "+s.key), 401)
	s.want(s.do("GET", s.seo+"/healthz", "", "X-Request-Id: "+s.key), 200)
	s.want(s.do("GET"+s.key, s.seo+"/api/v1/projects", ""), 405)
	s.web.Gate.Flush(s.Context())
}

// demandNone fails the test when a secret, in clear or in an encoding that anybody can undo, stands in text.
func demandNone(t *testing.T, where string, content []byte, secrets ...string) {
	t.Helper()
	for _, secret := range secrets {
		for _, form := range []string{secret, hex.EncodeToString([]byte(secret)), base64.RawStdEncoding.EncodeToString([]byte(secret))} {
			if bytes.Contains(content, []byte(form)) {
				t.Errorf("%s holds the secret %q", where, form)
			}
		}
	}
}

// keys and passwords are never in clear, neither at rest nor in the log.
func TestSecretsOnSQLite(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, "", dir)
	useSecrets(s)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < 2 {
		t.Fatalf("%v %v", files, err)
	}
	known := false
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		demandNone(t, file, content, s.key, sitePassword)
		known = known || bytes.Contains(content, []byte("https://example.com"))
	}
	if !known {
		t.Error("the files do not hold the website either: the search found nothing to look at")
	}
	checkLog(t, s)
}

// The same on the other engine.
func TestSecretsOnPostgres(t *testing.T) {
	url := pgtest.URL(t)
	s := serve(t, url, "")
	useSecrets(s)
	db, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context())
	var all string
	for _, table := range []string{"accounts", "keys", "websites", "projects"} {
		var rows string
		if err := db.QueryRow(t.Context(), fmt.Sprintf(`SELECT coalesce(string_agg(row_to_json(t)::text, ' '), '') FROM %s t`, table)).Scan(&rows); err != nil {
			t.Fatal(err)
		}
		all += rows
	}
	if !strings.Contains(all, "https://example.com") {
		t.Error("the tables do not hold the website either: the search found nothing to look at")
	}
	demandNone(t, "the database", []byte(all), s.key, sitePassword)
	checkLog(t, s)
}

func checkLog(t *testing.T, s *server) {
	t.Helper()
	if !strings.Contains(s.log.String(), "POST /api/v1/websites") {
		t.Error("the log does not tell of the requests")
	}
	demandNone(t, "the log", []byte(s.log.String()), s.key, sitePassword)
}

// The stored hash is the argon2id of the password, so that it can be checked later.
func TestPasswordHash(t *testing.T) {
	s := serve(t, "", t.TempDir())
	useSecrets(s)
	website, err := s.catalog.Website(t.Context(), s.owner.ID, 1)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(website.PasswordHash, "$")
	var memory, passes uint32
	var lanes uint8
	if len(parts) != 6 || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		t.Fatalf("hash %s", website.PasswordHash)
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &passes, &lanes); err != nil || memory < 19*1024 || passes < 2 {
		t.Fatalf("cost %s: %v", parts[3], err)
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		t.Fatal(err)
	}
	if want := base64.RawStdEncoding.EncodeToString(argon2.IDKey([]byte(sitePassword), salt, passes, memory, lanes, 32)); parts[5] != want {
		t.Errorf("hash %s, want %s", parts[5], want)
	}
}
