package restapi

// Routes are the patterns of all routes.
func Routes() []string { return New(Parts{}).routes }

// Preferred is preferred, for tests.
var Preferred = preferred
