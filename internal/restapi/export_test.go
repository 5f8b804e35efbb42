package restapi

// Routes are the patterns of all routes.
func Routes() []string { return New(Parts{}).routes }
