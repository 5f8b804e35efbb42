package config

// Environment configures how a profile lists the tools of the environment protocol. At their own
// address they are always available.
type Environment struct {
	Listed bool   // they are in the ordinary list, too
	Names  string // their names in the list: underscore, slash or both
}

func (e *Environment) fields() []field {
	return []field{
		{"env", boolInto(&e.Listed)},
		{"envNames", oneOf(&e.Names, "underscore", "slash", "both")},
	}
}
