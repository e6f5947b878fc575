package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/internal/ur"
	"github.com/countersign-dev/countersign/stamp"
)

// requestFile is a stamped request on its way to a machine without a network.
// The body is a text and not an object, for the stamp covers every byte of it.
type requestFile struct {
	Body  string       `json:"body"`
	Stamp stamp.Header `json:"stamp"`
}

// newRequestFile stamps a body.
func newRequestFile(by *stamper, body []byte) (requestFile, error) {
	if !utf8.Valid(body) {
		return requestFile{}, errors.New("the body is not UTF-8: it would not survive in a file of JSON")
	}
	made, err := by.Stamp(body)
	return requestFile{string(body), made}, err
}

// maxRequestFile is how long a request file may be: a body of the longest, all
// of it escaped.
const maxRequestFile = 6*httpapi.DefaultMaxBody + 2*stamp.MaxHeader

// message is the request as a series of QR codes has it.
func (f requestFile) message() ur.Message {
	return ur.Request{Body: []byte(f.Body), Header: f.Stamp.Name, Value: f.Stamp.Value}.Message()
}

// vote is the request as a series of QR codes has it, if it is a vote.
func (f requestFile) vote() ur.Message {
	return ur.Vote{Body: []byte(f.Body), Header: f.Stamp.Name, Value: f.Stamp.Value}.Message()
}

// requestIn reads the request that a series of QR codes has.
func requestIn(message ur.Message) (sent countersign.SignedBody, err error) {
	if message.Type == ur.TypeJSON {
		return parseRequestFile("BBQr", message.CBOR)
	}
	request, err := ur.DecodeRequest(message)
	return signedBody(request), err
}

// signedBody is a request of QR codes as the engine takes it.
func signedBody(request ur.Request) countersign.SignedBody {
	return countersign.SignedBody{Body: request.Body, Stamps: []stamp.Header{{Name: request.Header, Value: request.Value}}}
}

// fromStandardInput is the name of a file that stands for standard input, or
// output.
const fromStandardInput = "-"

// readRequestFile reads a request file, strictly: - is standard input.
func readRequestFile(cmd *cobra.Command, path string) (sent countersign.SignedBody, err error) {
	if path == fromStandardInput {
		content, err := readAll(cmd.Context(), cmd.InOrStdin(), maxRequestFile)
		if err != nil {
			return sent, fmt.Errorf("read the request from standard input: %w", err)
		}
		return parseRequestFile("standard input", content)
	}
	info, err := os.Stat(path)
	if err != nil {
		return sent, err
	}
	if info.Size() > maxRequestFile {
		return sent, fmt.Errorf("%s: longer than %d bytes", path, maxRequestFile)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return sent, err
	}
	return parseRequestFile(path, content)
}

// parseRequestFile reads what a request file holds; from says where it is.
func parseRequestFile(from string, content []byte) (sent countersign.SignedBody, err error) {
	var body string
	var made stamp.Header
	if err := strictjson.Read(content, "request",
		strictjson.Required("body", &body),
		strictjson.Required("stamp", func(r *strictjson.Reader) error {
			return r.Object(strictjson.Required("header", &made.Name), strictjson.Required("value", &made.Value))
		}),
	); err != nil {
		return sent, fmt.Errorf("%s: %w: a file as 'countersign request' prints it is expected", from, err)
	}
	if len(body) > httpapi.DefaultMaxBody {
		return sent, fmt.Errorf("%s: the body is longer than %d bytes", from, httpapi.DefaultMaxBody)
	}
	return countersign.SignedBody{Body: []byte(body), Stamps: []stamp.Header{made}}, nil
}

// writeWhole writes a file for its owner alone. It appears whole or not at all,
// in the place of one that is there.
func writeWhole(path string, content []byte) (err error) {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".countersign-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temporary.Name()))
		}
	}()
	_, err = temporary.Write(content)
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
