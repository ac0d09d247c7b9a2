package apikit

import (
	"context"

	"sightline/internal/access"
)

// Access reads the fields privacy and password of a body, and returns what they change: who may open the pages of a record. The
// password is hashed here, before any transaction; one that the record has already keeps its hash, known.
func Access(ctx context.Context, body Fields, known string) (func(*access.Privacy, *string), error) {
	privacy, sent := body.Choice("privacy", []string{"0", "1", "2"}, "must be 0 (public), 1 (private) or 2 (password)")
	hash, changed := "", body.Null("password")
	if password := body.Text("password"); password != "" {
		hash, changed = "not hashed: the request is refused", true
		if body.Merge(access.CheckPassword(password)) == nil {
			var err error
			if hash, err = access.HashPassword(ctx, password, known); err != nil {
				return nil, err
			}
		}
	}
	return func(p *access.Privacy, h *string) {
		if sent {
			*p = access.Privacy(privacy[0] - '0')
		}
		if changed {
			*h = hash
		}
	}, nil
}
