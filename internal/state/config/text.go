package config

import "github.com/toolfit/toolfit/internal/base/doctree"

// Text returns a server as ParseServer reads it.
func (s Server) Text() ([]byte, error) {
	root := &node{Kind: doctree.Mapping}
	root.Add("name", doctree.NewText(string(s.ID)))
	root.Entries = append(root.Entries, encode(s).Entries...)
	return root.MarshalJSON()
}
