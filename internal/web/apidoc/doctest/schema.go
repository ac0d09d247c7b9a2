package doctest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemas are those of a document. Each is compiled once, for that takes longer than all the rest.
type schemas struct {
	components any // of the document: what schemas refer to
	mu         sync.Mutex
	compiled   map[*openapi3.Schema]*jsonschema.Schema
}

func newSchemas(document []byte) (*schemas, error) {
	var parts struct{ Components json.RawMessage }
	if err := json.Unmarshal(document, &parts); err != nil {
		return nil, err
	}
	components, err := decode(parts.Components)
	return &schemas{components: components, compiled: map[*openapi3.Schema]*jsonschema.Schema{}}, err
}

// check says what a schema forbids in a value.
func (s *schemas) check(schema *openapi3.Schema, value any) error {
	compiled, err := s.compile(schema)
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}

func (s *schemas) compile(schema *openapi3.Schema) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.compiled[schema]; known != nil {
		return known, nil
	}
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, fmt.Errorf("write a schema: %w", err)
	}
	whole, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("read a schema: %w", err)
	}
	whole.(map[string]any)["components"] = s.components
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource("urn:schema", whole); err != nil {
		return nil, fmt.Errorf("read a schema: %w", err)
	}
	compiled, err := compiler.Compile("urn:schema")
	if err != nil {
		return nil, fmt.Errorf("compile a schema: %w", err)
	}
	s.compiled[schema] = compiled
	return compiled, nil
}

// checkHeaders checks the headers that the document knows in an answer.
func (s *schemas) checkHeaders(sent http.Header, documented openapi3.Headers) error {
	for name, header := range documented {
		text := sent.Get(name)
		switch {
		case text == "" && header.Value.Required:
			return fmt.Errorf("the header %s is missing", name)
		case text == "":
			continue
		}
		var value any = text
		if _, err := strconv.ParseInt(text, 10, 64); err == nil && header.Value.Schema.Value.Type.Is("integer") {
			value = json.Number(text)
		}
		if err := s.check(header.Value.Schema.Value, value); err != nil {
			return fmt.Errorf("the header %s: %w", name, err)
		}
	}
	return nil
}
