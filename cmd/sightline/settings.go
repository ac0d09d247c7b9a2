package main

import (
	"errors"
	"fmt"
	"time"

	"sightline/internal/account"
	"sightline/internal/config"
)

// settings checks the flags of serve. Its errors are usage errors and never repeat the first key.
func (c *ServeCmd) settings() (config.Config, error) {
	checked, err := c.Serve.Check()
	if err != nil {
		return config.Config{}, usage(err)
	}
	owner := account.New(checked.Owner, time.Time{})
	if owner.Check() != nil {
		return config.Config{}, usage(errors.New("--owner must be an e-mail address such as you@example.com"))
	}
	checked.Owner = owner.Email
	if checked.FirstKey != "" {
		if err := account.CheckChosenSecret(checked.FirstKey); err != nil {
			return config.Config{}, usage(fmt.Errorf("--first-key cannot be used: %w", err))
		}
	}
	return checked, nil
}
