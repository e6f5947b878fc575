package httpapi

import _ "embed"

// OpenAPI describes the API as an OpenAPI 3.0 document in JSON. Tests check it against real
// requests and answers.
//
//go:embed openapi.json
var OpenAPI []byte
