// Package scriptlab measures what scripts save: ten jobs, each done for real through the gateway in three ways, with every token
// counted that a model would read or write. No model is run: what one would send is written down beside each job. The table in
// docs/scripts.md is its result. It has no code of its own.
//
//	make script-lab
package scriptlab
