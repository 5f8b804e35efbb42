package demo

import (
	"fmt"

	"github.com/toolfit/toolfit/internal/integration/cloudbase"
	"github.com/toolfit/toolfit/internal/integration/cloudbase/fake"
	"github.com/toolfit/toolfit/internal/integration/cloudbase/picker"
)

// Cloud makes the server "cloud": the built-in CloudBase server with a fake cloud of 40
// environments, whose list is far larger than a reader needs. The picker may be nil.
func Cloud(p *picker.Picker) *cloudbase.Server {
	key := map[string]string{"TENCENTCLOUD_SECRETID": fake.SecretID, "TENCENTCLOUD_SECRETKEY": fake.SecretKey}
	lookup := func(name string) (string, bool) {
		value, ok := key[name]
		return value, ok
	}
	s, err := cloudbase.New(lookup, p, &cloudbase.Options{Transport: fake.New(nil).Transport()})
	if err != nil {
		panic(fmt.Sprintf("demo: make the cloud: %v", err)) // the settings are valid
	}
	return s
}
