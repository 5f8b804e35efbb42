package cli

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/program/cli/serverjson"
)

// The values of arguments, by the command's path, one for each argument. The last one counts for all that follow if there
// are several. What is not here takes free text.
var completedArguments = map[string][]values{
	"approvals approve": {approvalIDs, nothing},
	"approvals deny":    {approvalIDs, nothing},
	"approvals show":    {approvalIDs, nothing},
	"auth explain":      {words("-"), nothing},
	"backup":            {aFile, nothing},
	"backup verify":     {aFile, nothing},
	"call":              {toolNames, toolArguments},
	"calls cancel":      {waitingCalls, nothing},
	"calls wait":        {waitingCalls, nothing},
	"chat":              {agentNames, nothing},
	"config check":      {aFile, nothing},
	"describe":          {toolNames, nothing},
	"env agents":        {agentNames, nothing},
	"env profiles":      {profileNames, nothing},
	"env sessions":      {sessionIDs, nothing},
	"explain":           {errorCodes, nothing},
	"import":            {either(clientList, aFile), nothing},
	"install":           {clientList, nothing},
	"keys delete":       {keyNames, nothing},
	"keys rotate":       {keyNames, nothing},
	"login":             {signInServers, nothing},
	"logout":            {signInServers, nothing},
	"people disable":    {peopleNames, nothing},
	"people enable":     {peopleNames, nothing},
	"policy explain":    {toolNames, nothing},
	"policy test":       {aFile},
	"recipes approve":   {recipeNames, nothing},
	"recipes delete":    {recipeNames, nothing},
	"recipes show":      {recipeNames, nothing},
	"remove":            {serverNames, nothing},
	"restore":           {aFile, nothing},
	"rules remove":      {ruleIDs, nothing},
	"schema back":       {aFile, nothing},
	"schema check":      {aFile, nothing},
	"schema fit":        {aFile, nothing},
	"servers approve":   {serverNames, heldNames},
	"suggest":           {toolNames, nothing},
	"test":              {aFile},
	"test init":         {aFolder, nothing},
}

// The values of flags, by name; where a name means another thing, by command and name.
var completedFlags = map[string]values{
	"agent":             agentNames,
	"args":              aFile,
	"as":                either(prefixed("key:", keyNames), prefixed("user:", peopleNames)),
	"by":                words("tool", "profile", "rule", "day"),
	"client":            clientList,
	"config":            aFile,
	"continue":          sessionIDs,
	"detail":            words("name", "sig", "full"),
	"dialect":           dialects,
	"env agents --role": words("primary", "sub"),
	"expires":           words("30d", "90d", "365d", "never"),
	"file":              aFile,
	"for":               dialects,
	"format":            words("ts", "md", "sig", "json"),
	"input":             aFile,
	"isolation":         words("shared", "session"),
	"kind":              words("user", "service", "key", "local"),
	"lang":              words("zh", "en"),
	"language":          words("en-US", "zh-Hans"),
	"level":             words("debug", "info", "warn", "error"),
	"log":               words("text", "json"),
	"model":             modelNames,
	"of":                profileNames,
	"openapi":           aFile,
	"output":            aFile,
	"package":           words(serverjson.Kinds...),
	"profile":           profileNames,
	"registry":          aFile,
	"report":            unfinished(words("junit=", "html=", "json=")),
	"role":              words("caller", "viewer", "admin"),
	"secrets":           words("keep", "file", "env"),
	"server":            serverNames,
	"service":           words(bySystemd, byLaunchd, byTask, byNobody),
	"session":           sessionIDs,
	"since":             words("1h", "24h", "7d"),
	"skill --output":    aFolder,
	"store":             aFile,
	"token":             words("-"),
	"tool":              toolNames,
	"tools":             aFile,
	"trace":             aFolder,
}

// completionTimeout is how long somebody waits who has pressed the tab key.
const completionTimeout = 500 * time.Millisecond

// addCompletions lets the shell complete the arguments and flags of a command and of those below it.
func (c *command) addCompletions(cmd *cobra.Command) {
	cmd.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	path := strings.TrimPrefix(cmd.CommandPath(), "toolfit ")
	if of := completedArguments[path]; of != nil {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return c.complete(of[min(len(args), len(of)-1)], cmd, args, begun)
		}
	}
	for key, of := range completedFlags {
		name := strings.TrimPrefix(key, path+" --")
		_, special := completedFlags[path+" --"+key]
		if cmd.LocalFlags().Lookup(name) == nil || special {
			continue
		}
		find := func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return c.complete(of, cmd, args, begun)
		}
		cmd.RegisterFlagCompletionFunc(name, find) // it is there, and nobody else registers it
	}
	for _, sub := range cmd.Commands() {
		c.addCompletions(sub)
	}
}

// complete finds the values that begin like what was typed. It prints nothing, and has a limited time.
func (c *command) complete(of values, cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	env := *c.env
	env.Err = io.Discard
	quiet := *c
	quiet.env = &env
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	w := &wanted{command: &quiet, ctx: ctx, cmd: cmd, args: args, begun: begun}
	done := make(chan struct{})
	go func() {
		defer close(done)
		of(w)
	}()
	select {
	case <-done:
	case <-ctx.Done(): // a store or gateway that hangs must not hold up the shell
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	fitting := []cobra.Completion{}
	for _, one := range w.found {
		if strings.HasPrefix(one, begun) {
			fitting = append(fitting, one)
		}
	}
	if w.files {
		w.directive &^= cobra.ShellCompDirectiveNoFileComp
	}
	return fitting, w.directive
}
