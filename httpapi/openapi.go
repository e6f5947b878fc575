package httpapi

import _ "embed"

// OpenAPI describes what is served, as an OpenAPI 3.0 document in JSON. Tests
// hold it against real answers.
//
//go:embed openapi.json
var OpenAPI []byte
