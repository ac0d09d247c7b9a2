package doctest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// checkRequest checks that a request was rightly accepted.
func (c *checker) checkRequest(x exchange, route *routers.Route, params map[string]string) error {
	if status := x.answer.StatusCode; (status < 200 || status > 299) && status != http.StatusNotModified {
		return nil
	}
	query, err := parseForm(x.request.URL.RawQuery)
	if err != nil {
		return fmt.Errorf("accepted a malformed query: %w", err)
	}
	for _, parameter := range route.Operation.Parameters {
		name, sent := parameter.Value.Name, 0
		switch parameter.Value.In {
		case openapi3.ParameterInQuery:
			sent = len(query[name])
		case openapi3.ParameterInHeader:
			sent = len(x.request.Header.Values(name))
		}
		if sent > 1 && !parameter.Value.Schema.Value.Type.Is("array") {
			return fmt.Errorf("accepted the parameter %s twice", name)
		}
	}
	for name, escaped := range params {
		if params[name], err = url.PathUnescape(escaped); err != nil {
			return fmt.Errorf("accepted a malformed path: %w", err)
		}
	}
	err = openapi3filter.ValidateRequest(context.Background(), &openapi3filter.RequestValidationInput{
		Request:     x.request.Clone(context.Background()),
		PathParams:  params,
		QueryParams: query,
		Route:       route,
		Options: &openapi3filter.Options{MultiError: true, ExcludeRequestBody: true, SkipSettingDefaults: true,
			AuthenticationFunc: hasKey},
	})
	if err == nil && route.Operation.RequestBody != nil {
		err = c.checkBody(x, route.Operation.RequestBody.Value)
	}
	if err != nil {
		return fmt.Errorf("accepted a request that the document forbids: %w", err)
	}
	return nil
}

// parseForm reads form-encoded text. Unlike url.ParseQuery it takes a semicolon for what it is in a form: an ordinary
// character.
func parseForm(text string) (url.Values, error) {
	return url.ParseQuery(strings.ReplaceAll(text, ";", "%3B"))
}

func hasKey(_ context.Context, input *openapi3filter.AuthenticationInput) error {
	scheme, key, _ := strings.Cut(input.RequestValidationInput.Request.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, input.SecurityScheme.Scheme) || key == "" {
		return errors.New("it carries no key")
	}
	return nil
}

// checkBody checks the body of a request.
func (c *checker) checkBody(x exchange, documented *openapi3.RequestBody) error {
	if len(bytes.TrimSpace(x.sent)) == 0 {
		if documented.Required {
			return errors.New("it has no body")
		}
		return nil
	}
	kind := x.request.Header.Get("Content-Type")
	content := documented.Content.Get(kind)
	if content == nil {
		return fmt.Errorf("its body is of the type %q", kind)
	}
	switch content {
	case documented.Content[linesBody]:
		return c.checkLines(x.sent, content.Schema.Value)
	case documented.Content[formBody]:
		body, err := decodeForm(x.sent, content.Schema.Value)
		if err != nil {
			return err
		}
		return c.schemas.check(content.Schema.Value, body)
	default:
		return c.checkJSONBody(x.sent, content.Schema.Value)
	}
}

// checkLines checks every line of a body that is not empty.
func (c *checker) checkLines(sent []byte, schema *openapi3.Schema) error {
	for line := range bytes.Lines(sent) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := c.checkJSONBody(line, schema); err != nil {
			return fmt.Errorf("%.100s: %w", line, err)
		}
	}
	return nil
}

func (c *checker) checkJSONBody(sent []byte, schema *openapi3.Schema) error {
	body, err := decode(sent)
	if err != nil {
		return err
	}
	return c.schemas.check(schema, body)
}

// decodeForm reads the fields of a form. Digits become a number where the schema knows one.
func decodeForm(sent []byte, schema *openapi3.Schema) (map[string]any, error) {
	form, err := parseForm(string(sent))
	if err != nil {
		return nil, err
	}
	body := map[string]any{}
	for name, values := range form {
		property := schema.Properties[name]
		if property == nil {
			continue
		}
		if len(values) > 1 {
			return nil, fmt.Errorf("it has the field %s twice", name)
		}
		body[name] = values[0]
		number, err := strconv.ParseInt(values[0], 10, 64)
		if err == nil && property.Value.Type.Permits("integer") && strconv.FormatInt(number, 10) == values[0] {
			body[name] = number
		}
	}
	return body, nil
}
