package config

// Environment says how a profile offers the tools of the environment protocol. They are
// always to be had at the profile's own address for them.
type Environment struct {
	Listed bool   // they stand in the ordinary list too
	Names  string // under which names they are listed: underscore, slash or both
}

func (e *Environment) fields() []field {
	return []field{
		{"env", boolInto(&e.Listed)},
		{"envNames", oneOf(&e.Names, "underscore", "slash", "both")},
	}
}
