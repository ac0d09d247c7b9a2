package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/alecthomas/kong"
)

// DefaultFile is read when no other file is named and the working directory has it.
const DefaultFile = "sightline.toml"

// Env looks up an environment variable. An empty one counts as not set.
type Env func(name string) string

// Variable is the environment variable of a flag: SIGHTLINE_SEO_URL for seo-url.
func Variable(flag string) string {
	return "SIGHTLINE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// File is the flag that names the configuration file. A grammar that embeds it, with an Env bound, takes what the
// command line leaves out from the environment, then from the file, then from the defaults.
type File struct {
	Config string `placeholder:"FILE" help:"Configuration file with the long flags as keys; sightline.toml in the working directory needs no flag."`
}

// BeforeResolve is called by kong when it has read the command line.
func (*File) BeforeResolve(ctx *kong.Context, env Env) error {
	values, err := readFile(ctx, env)
	if err != nil {
		return err
	}
	ctx.AddResolver(kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		text := env(Variable(flag.Name))
		switch {
		case text == "" || flag.Name == "help":
			return values[flag.Name], nil
		case flag.IsBool():
			return parseBool(flag.Name, text)
		default:
			return text, nil
		}
	}))
	return nil
}

// parseBool reads the variable of a flag that is either on or off.
func parseBool(flag, text string) (any, error) {
	switch strings.ToLower(text) {
	case "true", "1", "yes", "on":
		return true, nil
	case "false", "0", "no", "off":
		return false, nil
	default:
		return nil, fmt.Errorf("%s must be true or false", Variable(flag))
	}
}

// readFile reads the configuration file, if there is one, and checks that every key is a flag of some command.
func readFile(ctx *kong.Context, env Env) (map[string]any, error) {
	path, chosen := filePath(ctx, env)
	values := map[string]any{}
	_, err := toml.DecodeFile(path, &values)
	var syntax toml.ParseError
	var cause *fs.PathError
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist) && !chosen:
		return nil, nil
	case errors.As(err, &syntax): // its own text repeats the line, which may hold a secret
		return nil, fmt.Errorf("%s: line %d is not valid TOML: write settings like seo-url = \"http://localhost:8081\"", path, syntax.Position.Line)
	case errors.As(err, &cause):
		return nil, fmt.Errorf("cannot read the configuration file %s: %w", path, cause.Err)
	default:
		return nil, fmt.Errorf("cannot read the configuration file %s: %w", path, err)
	}
	if err := checkKeys(ctx.Model.Node, values); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return values, nil
}

// filePath is the configuration file; chosen says that the command line or the environment names it.
func filePath(ctx *kong.Context, env Env) (path string, chosen bool) {
	for _, step := range ctx.Path {
		if step.Flag != nil && step.Flag.Name == "config" {
			return ctx.Value(step).String(), true
		}
	}
	if path := env(Variable("config")); path != "" {
		return path, true
	}
	return DefaultFile, false
}

// checkKeys says which key is no flag, or has a value of another type than its flag.
func checkKeys(root *kong.Node, values map[string]any) error {
	flags := map[string]reflect.Kind{}
	addFlags(root, flags)
	delete(flags, "help")
	delete(flags, "config")
	for _, key := range slices.Sorted(maps.Keys(values)) {
		kind, known := flags[key]
		switch value := reflect.ValueOf(values[key]).Kind(); {
		case !known:
			return fmt.Errorf("there is no setting %q: its keys are the long flags, such as seo-url", key)
		case kind == reflect.Bool && value != reflect.Bool:
			return fmt.Errorf("%s must be true or false, without quotes", key)
		case kind == reflect.String && value != reflect.String:
			return fmt.Errorf("%s must be text in quotes", key)
		}
	}
	return nil
}

// addFlags notes the flags of a command and of all below it, with the kind of their values.
func addFlags(node *kong.Node, flags map[string]reflect.Kind) {
	for _, flag := range node.Flags {
		flags[flag.Name] = flag.Target.Kind()
	}
	for _, child := range node.Children {
		addFlags(child, flags)
	}
}

// DescribeFlag is the help of a flag or argument: what it does and, of a flag, its default and its environment variable.
func DescribeFlag(value *kong.Value) string {
	switch {
	case value.Flag == nil:
		return value.Help
	case value.Name == "help":
		return "Show this help."
	}
	text := value.Help
	if value.Default != "" {
		text += " Default: " + value.Default + "."
	}
	return text + " ($" + Variable(value.Name) + ")"
}
