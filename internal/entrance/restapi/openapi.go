package restapi

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"net/http"

	"github.com/toolfit/toolfit/internal/state/access"
)

//go:embed openapi.json
var document []byte

// documentAt is the document of a gateway that is reached below a path.
func documentAt(basePath string) []byte {
	if basePath == "" {
		return document
	}
	at, _ := json.Marshal(basePath + "/api/v1") // text always encodes
	return bytes.Replace(document, []byte(`"/api/v1"`), at, 1)
}

// openAPI describes the routes to programs.
func (a *API) openAPI(*http.Request, access.Principal) (any, error) {
	return json.RawMessage(a.document), nil
}
