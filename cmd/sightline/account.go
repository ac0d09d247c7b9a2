package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"sightline/internal/account"
	"sightline/internal/config"
	"sightline/internal/fault"
	"sightline/internal/store"
)

// AccountCmd is sightline account.
type AccountCmd struct {
	Create AccountCreateCmd `cmd:"" help:"Create a further, separate account."`
	List   AccountListCmd   `cmd:"" help:"List the accounts."`
}

// AccountCreateCmd is sightline account create.
type AccountCreateCmd struct {
	config.Storage
	Email string `arg:"" help:"The e-mail address that names the account."`
}

// Run creates an account.
func (c *AccountCreateCmd) Run(ctx context.Context, term *terminal) error {
	a := account.New(c.Email, term.now())
	if err := a.Check(); err != nil {
		return usage(err)
	}
	return withCatalog(ctx, c.Storage, func(catalog store.Catalog) error {
		err := catalog.CreateAccount(ctx, &a)
		if errors.As(err, new(fault.Invalid)) {
			return fmt.Errorf("%s has an account already", a.Email)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(term.stdout, "Account %d (%s) is created. Its first key: sightline key create --account %s --name NAME\n", a.ID, a.Email, a.Email)
		return err
	})
}

// AccountListCmd is sightline account list.
type AccountListCmd struct {
	config.Storage
}

// Run lists all accounts.
func (c *AccountListCmd) Run(ctx context.Context, term *terminal) error {
	return withCatalog(ctx, c.Storage, func(catalog store.Catalog) error {
		accounts, err := catalog.Accounts(ctx)
		if err != nil {
			return err
		}
		rows := [][]string{{"ID", "EMAIL", "CREATED"}}
		for _, a := range accounts {
			rows = append(rows, []string{strconv.FormatInt(a.ID, 10), printable(a.Email), timeText(a.CreatedAt)})
		}
		return writeTable(term.stdout, rows)
	})
}
