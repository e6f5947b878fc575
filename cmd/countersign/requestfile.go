package main

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/httpapi"
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

// newRequestFile stamps a body.
func newRequestFile(by *api.Key, body []byte) (requestFile, error) {
	if !utf8.Valid(body) {
		return requestFile{}, errors.New("the body is not UTF-8, and cannot be written as a JSON string")
	}
	header, err := by.Stamp(body)
	return requestFile{string(body), header}, err
}

// maxRequestFile bounds a request file, in bytes: the longest body with every byte
// escaped.
const maxRequestFile = 6*httpapi.DefaultMaxBody + 2*stamp.MaxHeader

// print prints the request as JSON, or draws it if codes are wanted.
func (f requestFile) print(cmd *cobra.Command, qr *qrFlags) error {
	if qr.wanted() {
		return qr.show(cmd, f.message())
	}
	return printJSON(cmd.OutOrStdout(), f)
}

// message returns the request for QR codes.
func (f requestFile) message() ur.Message {
	return ur.Request{Body: []byte(f.Body), Header: f.Stamp.Name, Value: f.Stamp.Value}.Message()
}

// vote returns the request, which must be a vote, for QR codes.
func (f requestFile) vote() ur.Message {
	return ur.Vote{Body: []byte(f.Body), Header: f.Stamp.Name, Value: f.Stamp.Value}.Message()
}

// requestIn reads a request from QR codes.
func requestIn(message ur.Message) (sent countersign.SignedBody, err error) {
	if message.Type == ur.TypeJSON {
		return parseRequestFile("BBQr", message.CBOR)
	}
	request, err := ur.DecodeRequest(message)
	return signedBody(request), err
}

// signedBody converts a request from QR codes for the engine.
func signedBody(request ur.Request) countersign.SignedBody {
	return countersign.SignedBody{Body: request.Body, Stamps: []stamp.Header{{Name: request.Header, Value: request.Value}}}
}

// readRequestFile reads a request file strictly, from standard input if path is "-".
func readRequestFile(cmd *cobra.Command, path string) (sent countersign.SignedBody, err error) {
	if path == fromStandardInput {
		content, err := readStandardInput(cmd, "request", maxRequestFile)
		if err != nil {
			return sent, err
		}
		return parseRequestFile("standard input", content)
	}
	content, err := readFile(path, maxRequestFile)
	if err != nil {
		return sent, err
	}
	return parseRequestFile(path, content)
}

// parseRequestFile parses a request file. Its errors begin with source.
func parseRequestFile(source string, content []byte) (sent countersign.SignedBody, err error) {
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
