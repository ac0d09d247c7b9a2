package config_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"sightline/internal/config"
)

// grammar has the flags of serve on one command and those of storage on another, as the program has.
type grammar struct {
	config.File
	Serve struct {
		config.Serve
	} `cmd:""`
	Key struct {
		config.Storage
		Name string
	} `cmd:""`
}

// load reads a command line in a working directory that holds sightline.toml with the given text, unless it is empty.
func load(t *testing.T, args string, env map[string]string, file string) (config.Config, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	if file != "" {
		write(t, config.DefaultFile, file)
	}
	var g grammar
	parser := kong.Must(&g, kong.Bind(config.Env(func(name string) string { return env[name] })))
	if _, err := parser.Parse(strings.Fields(args)); err != nil {
		return config.Config{}, err
	}
	return g.Serve.Check()
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDefaults(t *testing.T) {
	c, err := load(t, "serve", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if c.SEOURL.String() != "http://localhost:8081" || c.AnalyticsURL.String() != "http://localhost:8082" {
		t.Errorf("URLs are %s and %s", c.SEOURL, c.AnalyticsURL)
	}
	c.SEOURL, c.AnalyticsURL = nil, nil
	want := config.Config{Data: "./sightline-data", Events: config.EmbeddedEvents, Owner: "owner@localhost", TrashKept: 7 * 24 * time.Hour, Audits: 2, LogFormat: "auto", LogLevel: "info",
		TrustedProxies: networks("127.0.0.0/8", "::1/128"), ClientHeader: "X-Forwarded-For"}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v, want %+v", c, want)
	}
}

func networks(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

func TestTrustedProxies(t *testing.T) {
	for text, want := range map[string][]netip.Prefix{
		"none":                           nil,
		"10.0.0.7":                       networks("10.0.0.7/32"),
		"10.1.2.3/8,fd00::1/8":           networks("10.0.0.0/8", "fd00::/8"),
		"::ffff:10.0.0.0/104,2001:db8::": networks("10.0.0.0/8", "2001:db8::/128"),
	} {
		c, err := load(t, "serve --trusted-proxies "+text, nil, "")
		if err != nil || !reflect.DeepEqual(c.TrustedProxies, want) {
			t.Errorf("%s: %v, %v", text, c.TrustedProxies, err)
		}
	}
}

func TestPrecedence(t *testing.T) {
	const inFile = "data = \"of-file\"\ndemo = true\n"
	env := map[string]string{"SIGHTLINE_DATA": "of-env", "SIGHTLINE_DEMO": "no"}
	for _, c := range []struct {
		what, args, file string
		env              map[string]string
		data             string
		demo             bool
	}{
		{"default", "serve", "", nil, "./sightline-data", false},
		{"file over default", "serve", inFile, nil, "of-file", true},
		{"environment over file", "serve", inFile, env, "of-env", false},
		{"flag over environment", "serve --data of-flag --demo", inFile, env, "of-flag", true},
		{"flag over file", "serve --data of-flag --demo=false", inFile, nil, "of-flag", false},
		{"environment over default", "serve", "", map[string]string{"SIGHTLINE_DATA": "of-env", "SIGHTLINE_DEMO": "1"}, "of-env", true},
		{"an empty variable counts as not set", "serve", inFile, map[string]string{"SIGHTLINE_DATA": "", "SIGHTLINE_DEMO": ""}, "of-file", true},
	} {
		t.Run(c.what, func(t *testing.T) {
			got, err := load(t, c.args, c.env, c.file)
			if err != nil {
				t.Fatal(err)
			}
			if got.Data != c.data || got.Demo != c.demo {
				t.Errorf("data %q, demo %v; want %q, %v", got.Data, got.Demo, c.data, c.demo)
			}
		})
	}
}

func TestOtherFile(t *testing.T) {
	dir := t.TempDir()
	named, other := filepath.Join(dir, "named.toml"), filepath.Join(dir, "other.toml")
	write(t, named, `data = "of-named"`)
	write(t, other, `data = "of-other"`)
	env := map[string]string{"SIGHTLINE_CONFIG": other}
	for _, c := range []struct{ args, want string }{
		{"serve --config " + named, "of-named"},
		{"--config=" + named + " serve", "of-named"},
		{"serve", "of-other"},
	} {
		got, err := load(t, c.args, env, `data = "of-default"`)
		if err != nil || got.Data != c.want {
			t.Errorf("%s: data %q (%v), want %q", c.args, got.Data, err, c.want)
		}
	}
}

func TestEveryFlagIsAVariableAndAKey(t *testing.T) {
	values := map[string]string{"data": "d", "database": "postgres://h/n", "seo-url": "http://a:1", "analytics-url": "http://b:2", "seo-listen": ":1",
		"analytics-listen": ":2", "admin-listen": "[::1]:3", "owner": "o@example.com", "first-key": "12345678901234567890", "log-format": "json", "log-level": "warn",
		"trusted-proxies": "10.0.0.0/8", "client-header": "forwarded", "events": "none", "geo-database": "cities.mmdb",
		"allow-private-targets": "10.0.0.0/8, 192.168.1.7", "allow-ports": "8080,8443"}
	env, file := map[string]string{"SIGHTLINE_DEMO": "true", "SIGHTLINE_TRASH_DAYS": "2", "SIGHTLINE_RATE_LIMIT": "9", "SIGHTLINE_AUDITS": "7"}, "demo = true\ntrash-days = 2\nrate-limit = 9\naudits = 7\n"
	for key, value := range values {
		env[config.Variable(key)] = value
		file += key + " = \"" + value + "\"\n"
	}
	for what, load := range map[string]func() (config.Config, error){
		"environment": func() (config.Config, error) { return load(t, "serve", env, "") },
		"file":        func() (config.Config, error) { return load(t, "serve", nil, file) },
	} {
		c, err := load()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if c.SEOURL.String() != "http://a:1" || c.AnalyticsURL.String() != "http://b:2" {
			t.Errorf("%s: URLs are %s and %s", what, c.SEOURL, c.AnalyticsURL)
		}
		c.SEOURL, c.AnalyticsURL = nil, nil
		want := config.Config{Data: "d", Database: "postgres://h/n", SEOListen: ":1", AnalyticsListen: ":2", AdminListen: "[::1]:3", Events: config.NoEvents, GeoDatabase: "cities.mmdb", Owner: "o@example.com",
			FirstKey: "12345678901234567890", Demo: true, TrashKept: 48 * time.Hour, RateLimit: 9, Audits: 7, LogFormat: "json", LogLevel: "warn",
			TrustedProxies: networks("10.0.0.0/8"), ClientHeader: "Forwarded",
			AllowPrivate: networks("10.0.0.0/8", "192.168.1.7/32"), AllowPorts: []uint16{8080, 8443}}
		if !reflect.DeepEqual(c, want) {
			t.Errorf("%s: got %+v, want %+v", what, c, want)
		}
	}
}

func TestBadFile(t *testing.T) {
	for _, c := range []struct{ what, args, file, want string }{
		{"unknown key", "serve", `seo_url = "http://localhost:1"`, `sightline.toml: there is no setting "seo_url"`},
		{"unknown key on another command", "key", `colour = "blue"`, `there is no setting "colour"`},
		{"table", "serve", "[seo]\nurl = \"x\"", `there is no setting "seo"`},
		{"help is no setting", "serve", `help = true`, `there is no setting "help"`},
		{"config is no setting", "serve", `config = "x"`, `there is no setting "config"`},
		{"number for text", "serve", `seo-url = 8081`, "sightline.toml: seo-url must be text in quotes"},
		{"text for a switch", "serve", `demo = "yes"`, "sightline.toml: demo must be true or false"},
		{"list for text", "serve", `first-key = ["secret-secret-secret"]`, "first-key must be text in quotes"},
		{"not TOML", "serve", "data = \"x\"\nfirst-key = secret-secret-secret", "sightline.toml: line 2 is not valid TOML"},
		{"no such file", "serve --config gone.toml", "", "cannot read the configuration file gone.toml: no such file or directory"},
		{"a directory", "serve --config .", "", "cannot read the configuration file .: is a directory"},
		{"no name", "serve --config=", "", "cannot read the configuration file"},
		{"key twice", "serve", "data = \"x\"\ndata = \"y\"", "line 2 is not valid TOML"},
	} {
		t.Run(c.what, func(t *testing.T) { wantError(t, c.want)(load(t, c.args, nil, c.file)) })
	}
	t.Run("settings of another command are fine", func(t *testing.T) {
		if _, err := load(t, "serve", nil, `name = "x"`); err != nil {
			t.Error(err)
		}
	})
}

func TestBadFlags(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--data=", "--data must name a directory"},
		{"--database mysql://root:secret-secret-secret@h/n", "--database must be a PostgreSQL address"},
		{"--events clickhouse://host", "--events must be embedded or none"},
		{"--trusted-proxies=", "--trusted-proxies must be addresses or ranges"},
		{"--trusted-proxies 10.0.0.0/33", "--trusted-proxies has an entry that is no address or range"},
		{"--trusted-proxies fe80::1%eth0", "--trusted-proxies has an entry that is no address or range"},
		{"--trusted-proxies none,10.0.0.1", "--trusted-proxies has an entry that is no address or range"},
		{"--client-header CF-Connecting-IP", "--client-header must be one of X-Forwarded-For, Forwarded, X-Real-IP"},
		{"--seo-url localhost:8081", "--seo-url must be an http or https address"},
		{"--seo-url=", "--seo-url must be an http or https address"},
		{"--analytics-url ftp://example.com", "--analytics-url must be an http or https address"},
		{"--analytics-url http://", "--analytics-url must be an http or https address"},
		{"--seo-url http://:8081", "--seo-url must be an http or https address"},
		{"--seo-url http://a..b", "--seo-url must be an http or https address"},
		{"--seo-url http://a*b", "--seo-url must be an http or https address"},
		{"--seo-url http://[fe80::1%25eth0]:1", "--seo-url must be an http or https address"},
		{"--seo-url http://me:secret-secret-secret@example.com", "--seo-url must not contain a user name or password"},
		{"--seo-url http://example.com/seo", "--seo-url must not contain a path"},
		{"--seo-url http://example.com?x=1", "--seo-url must not contain a query"},
		{"--seo-url http://example.com/?", "--seo-url must not contain a query"},
		{"--seo-url http://example.com#x", "--seo-url must not contain a query or fragment"},
		{"--seo-url http://example.com:65536", "--seo-url must have a port from 0 to 65535"},
		{"--seo-url http://example.com:", "--seo-url must have a port from 0 to 65535"},
		{"--seo-url https://example.com", "--seo-url with https:// needs --seo-listen"},
		{"--analytics-url https://example.com --seo-listen :1", "--analytics-url with https:// needs --analytics-listen"},
		{"--seo-listen 9001", "--seo-listen must be HOST:PORT"},
		{"--seo-listen http://localhost:9001", "--seo-listen must be HOST:PORT"},
		{"--analytics-listen localhost:http", "--analytics-listen must be HOST:PORT"},
		{"--admin-listen :9001", "--admin-listen must be a loopback address"},
		{"--admin-listen 0.0.0.0:9001", "--admin-listen must be a loopback address"},
		{"--admin-listen [::]:9001", "--admin-listen must be a loopback address"},
		{"--admin-listen 192.0.2.1:9001", "--admin-listen must be a loopback address"},
		{"--admin-listen example.com:9001", "--admin-listen must be a loopback address"},
		{"--admin-listen localhost", "--admin-listen must be a loopback address"},
		{"--admin-listen localhost:http", "--admin-listen must be a loopback address"},
		{"--admin-listen 9001", "--admin-listen must be a loopback address"},
		{"--log-format xml", `--log-format must be one of auto, text, json, not "xml"`},
		{"--log-level loud", `--log-level must be one of debug, info, warn, error, not "loud"`},
	} {
		t.Run(c.args, func(t *testing.T) { wantError(t, c.want)(load(t, "serve "+c.args, nil, "")) })
	}
	t.Run("variable of a switch", func(t *testing.T) {
		wantError(t, "SIGHTLINE_DEMO must be true or false")(load(t, "serve", map[string]string{"SIGHTLINE_DEMO": "maybe"}, ""))
	})
}

// wantError checks that loading failed with one sentence that holds a text and no secret.
func wantError(t *testing.T, want string) func(config.Config, error) {
	return func(_ config.Config, err error) {
		t.Helper()
		if err == nil {
			t.Fatalf("no error, want %q", want)
		}
		if text := err.Error(); !strings.Contains(text, want) || strings.Contains(text, "secret") || strings.Contains(text, "\n") {
			t.Errorf("error is %q, want %q", text, want)
		}
	}
}

func TestNormalURLs(t *testing.T) {
	for _, c := range []struct{ given, want string }{
		{"http://localhost:0", "http://localhost:0"},
		{"HTTP://SEO.Example.COM/", "http://seo.example.com"},
		{"http://example.com.", "http://example.com"},
		{"http://example.com:80", "http://example.com"},
		{"http://example.com:443", "http://example.com:443"},
		{"http://bücher.example:81", "http://xn--bcher-kva.example:81"},
		{"http://BÜCHER.example", "http://xn--bcher-kva.example"},
		{"http://my_container:8081", "http://my_container:8081"},
		{"http://[::1]:8081", "http://[::1]:8081"},
		{"http://[0:0::1]", "http://[::1]"},
		{"http://192.0.2.1", "http://192.0.2.1"},
	} {
		got, err := load(t, "serve --seo-url "+c.given, nil, "")
		if err != nil {
			t.Errorf("%s: %v", c.given, err)
		} else if got.SEOURL.String() != c.want {
			t.Errorf("%s became %s, want %s", c.given, got.SEOURL, c.want)
		}
	}
	got, err := load(t, "serve --seo-url https://example.com:443 --seo-listen [::1]:9001", nil, "")
	if err != nil || got.SEOURL.String() != "https://example.com" || got.SEOListen != "[::1]:9001" {
		t.Errorf("behind a proxy: %s at %s (%v)", got.SEOURL, got.SEOListen, err)
	}
}
