package app

import (
	"context"
	"errors"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/store"
)

// follow applies what other processes change in the store, until ctx ends.
func (a *App) follow(ctx context.Context) {
	var before error
	a.Store.Follow(ctx, func(changes []store.Change) error {
		err := a.followed(ctx, changes)
		if err != nil && before == nil && ctx.Err() == nil {
			a.log.Error("changes in the store not followed; they are read again until that works", "error", err)
		}
		before = err
		return err
	})
}

// followed applies changes. Of one table it reads everything once, however many rows have changed.
func (a *App) followed(ctx context.Context, changes []store.Change) error {
	tables := map[string]bool{}
	for _, c := range changes {
		tables[c.Table] = true
	}
	var errs []error
	read := func(table string, apply func() error) {
		if tables[table] || tables[""] {
			errs = append(errs, apply())
		}
	}
	tables[store.KeysTable] = tables[store.KeysTable] || tables["people"]
	read(store.KeysTable, func() error {
		defer a.endStrangers()
		return a.Keys.Follow(ctx)
	})
	read("server_configs", func() error { return a.reread(ctx, "servers", a.serversChanged) })
	tables["servers"] = tables["servers"] || tables["decisions"]
	read("servers", func() error { return a.followServers(ctx) })
	read("rules", func() error { return a.reread(ctx, "rules", a.rulesChanged) })
	read("agents", func() error { return a.reread(ctx, "agents", a.agentsChanged) })
	read("recipes", func() error { return a.reread(ctx, "recipes", a.recipesFollowed) })
	read("grants", func() error {
		if s := a.edge.Load().signIn; s != nil && s.broker != nil {
			s.broker.Forget()
		}
		return nil
	})
	for _, c := range changes {
		switch c.Table {
		case "connections", "":
			a.connections.Changed(tool.ServerID(c.Key))
			a.Pool.Retry(tool.ServerID(c.Key))
			errs = append(errs, a.endSignedOut(ctx, tool.ServerID(c.Key)))
		}
		if c.Table == "personal" || c.Table == "" {
			a.connections.PersonChanged()
			a.connections.Forget(c.Key)
			if c.Key == "" {
				a.connections.ForgetGone(ctx)
			}
		}
		switch c.Table {
		case "uses":
			a.Caller.ForgetUses(c.Key)
		case "waiting", "":
			errs = append(errs, a.Waiting.Follow(ctx, c.Key))
		}
		errs = append(errs, a.events.Follow(ctx, a.Store, c))
	}
	return errors.Join(errs...)
}

// followServers serves the lists that others have stored, and what was decided about them.
func (a *App) followServers(ctx context.Context) error {
	stamps, err := a.Store.Stamps(ctx)
	if err != nil {
		return err
	}
	return a.Catalog.Follow(ctx, stamps)
}
