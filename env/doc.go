// Package env turns a system into an agent environment: an MCP server by which agents and
// their hosts learn what the system is, which profiles and agents it has, what it logged,
// and which sessions there are, next to the system's own tools and prompts.
//
// An environment is a type with two methods, Prompts and Tools. What else it can do is found
// by small interfaces: HasMeta, HasProfiles, HasLogs, Sessions. Exactly the tools that it can
// serve are offered; the rest is derived, and each part can be written by hand in Options.
//
//	type shop struct{ env.Base }
//
//	func (*shop) Prompts(context.Context) ([]env.Prompt, error) { … }
//	func (*shop) Tools(context.Context) ([]env.Tool, error)     { … }
//
//	var _ env.Sessions = (*shop)(nil) // the compiler checks what is meant to be there
//
//	server, err := env.NewServer(&shop{}, &env.Options{Meta: env.Meta{ID: "shop"}})
//	err = server.Run(ctx, os.Stdin, os.Stdout) // or http.ListenAndServe(addr, server)
//
// The package never starts processes except for a Client that is asked to, keeps nothing on
// disk, and knows nothing of models.
package env
