package show

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/internal/ur"
	"github.com/countersign-dev/countersign/stamp"
)

// requestFile is a stamped request on its way to a machine without a network. The body
// is a string rather than an object because the stamp covers its exact bytes.
type requestFile struct {
	Body  string       `json:"body"`
	Stamp stamp.Header `json:"stamp"`
}

// NewRequestFile stamps a body.
func NewRequestFile(by *api.Key, body []byte) (requestFile, error) {
	if !utf8.Valid(body) {
		return requestFile{}, errors.New("the body is not UTF-8, and cannot be written as a JSON string")
	}
	header, err := by.Stamp(body)
	return requestFile{string(body), header}, err
}

// MaxRequestFile bounds a request file, in bytes: the longest body with every byte escaped.
const MaxRequestFile = 6*httpapi.DefaultMaxBody + 2*stamp.MaxHeader

// Print prints the request as JSON, or draws it if codes are wanted.
func (f requestFile) Print(cmd *cobra.Command, qr *console.QRFlags) error {
	if qr.Wanted() {
		return qr.Show(cmd, ur.Request{Body: []byte(f.Body), Header: f.Stamp.Name, Value: f.Stamp.Value}.Message())
	}
	return console.PrintJSON(cmd.OutOrStdout(), f)
}

// Vote returns the request, which must be a vote, for QR codes.
func (f requestFile) Vote() ur.Message {
	return ur.Vote{Body: []byte(f.Body), Header: f.Stamp.Name, Value: f.Stamp.Value}.Message()
}

// RequestIn reads a request from QR codes.
func RequestIn(message ur.Message) (sent countersign.SignedBody, err error) {
	if message.Type == ur.TypeJSON {
		return ParseRequestFile("BBQr", message.CBOR)
	}
	request, err := ur.DecodeRequest(message)
	return SignedBody(request), err
}

// SignedBody converts a request from QR codes for the engine.
func SignedBody(request ur.Request) countersign.SignedBody {
	return countersign.SignedBody{Body: request.Body, Stamps: []stamp.Header{{Name: request.Header, Value: request.Value}}}
}

// ReadRequestFile reads a request file strictly, from standard input if path is "-".
func ReadRequestFile(cmd *cobra.Command, path string) (sent countersign.SignedBody, err error) {
	if path == console.StandardInput {
		content, err := console.ReadStandardInput(cmd, "request", MaxRequestFile)
		if err != nil {
			return sent, err
		}
		return ParseRequestFile("standard input", content)
	}
	content, err := console.ReadFile(path, MaxRequestFile)
	if err != nil {
		return sent, err
	}
	return ParseRequestFile(path, content)
}

// IsRequestFile reports whether content is a request file, and not the body of a request,
// which has neither a body nor a stamp.
func IsRequestFile(content []byte) bool {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(content, &members); err != nil {
		return false
	}
	_, hasBody := members["body"]
	_, hasStamp := members["stamp"]
	return hasBody && hasStamp
}

// ParseRequestFile parses a request file. Its errors begin with source.
func ParseRequestFile(source string, content []byte) (sent countersign.SignedBody, err error) {
	var body string
	var header stamp.Header
	if err := strictjson.Read(content, "request",
		strictjson.Required("body", &body),
		strictjson.Required("stamp", func(r *strictjson.Reader) error {
			return r.Object(strictjson.Required("header", &header.Name), strictjson.Required("value", &header.Value))
		}),
	); err != nil {
		return sent, fmt.Errorf("%s: %w: expected a file as 'countersign request' prints it", source, err)
	}
	if len(body) > httpapi.DefaultMaxBody {
		return sent, fmt.Errorf("%s: the body is longer than %d bytes", source, httpapi.DefaultMaxBody)
	}
	return countersign.SignedBody{Body: []byte(body), Stamps: []stamp.Header{header}}, nil
}

// Listed returns what an intent asks for or, of a list, the transaction with an index, which --index
// names; -1 names none.
func Listed(intent activity.Intent, index int) (activity.Intent, error) {
	list, ok := intent.(activity.SignTransactionsIntent)
	switch {
	case !ok && index >= 0:
		return nil, console.Usagef("--index goes with a list of transactions, and this request has none")
	case !ok:
		return intent, nil
	case index < 0 || index >= len(list.Transactions):
		return nil, console.Usagef("this is a list of transactions: pass --index 0 to %d", len(list.Transactions)-1)
	}
	return list.At(index), nil
}
