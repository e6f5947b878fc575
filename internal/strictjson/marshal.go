package strictjson

import (
	"bytes"
	"encoding/json"
)

// Marshal returns a value as compact JSON on one line, with only the escapes that JSON
// requires, unlike json.Marshal, which also escapes <, > and &.
func Marshal(value any) ([]byte, error) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(line.Bytes(), []byte("\n")), nil
}
