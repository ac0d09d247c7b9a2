package apidoc

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// An ordered is a JSON object that keeps the order of its members.
type ordered[T any] []member[T]

type member[T any] struct {
	Name  string
	Value T
}

// find is the value of a member, nil when there is none.
func (o ordered[T]) find(name string) *T {
	for i := range o {
		if o[i].Name == name {
			return &o[i].Value
		}
	}
	return nil
}

// add appends members with names that are not taken. One that is settled may come again: it counts once, as settled.
func (o *ordered[T]) add(members, settled ordered[T]) error {
	for _, m := range members {
		final := settled.find(m.Name)
		taken := o.find(m.Name) != nil
		switch {
		case taken && final == nil:
			return fmt.Errorf("%s is described twice", m.Name)
		case taken:
		case final != nil:
			*o = append(*o, member[T]{m.Name, *final})
		default:
			*o = append(*o, m)
		}
	}
	return nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *ordered[T]) UnmarshalJSON(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	if token != json.Delim('{') {
		return fmt.Errorf("%v instead of an object", token)
	}
	*o = nil
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		m := member[T]{Name: name.(string)} // the decoder lets nothing else stand before a value
		if err := decoder.Decode(&m.Value); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		if err := o.add(ordered[T]{m}, nil); err != nil {
			return err
		}
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (o ordered[T]) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := encoder.Encode(m.Name); err != nil {
			return nil, err
		}
		out.WriteByte(':')
		if err := encoder.Encode(m.Value); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
