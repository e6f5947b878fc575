package rpcapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/strictjson"
)

// Codes of errors, of JSON-RPC 2.0 and of clients' usage.
const (
	codeParse         = -32700 // the body is no JSON
	codeRequest       = -32600 // it is no request
	codeMethod        = -32601 // the method is not served
	codeParams        = -32602 // a parameter is missing, malformed or contradicts another
	codeRefused       = -32000 // the engine refuses, or cannot at the moment
	maxBatch          = 100
	maxMethodBytes    = 64
	maxIdentifier     = 128
	jsonRPC           = "2.0"
	nullID            = "null"
	whatBody          = "request"
	uncheckedNotified = "a request without an id would get no answer, and is refused: send an id"
)

// request is one request of a body.
type request struct {
	id     string // JSON text of the id
	method string
	params []byte // JSON text, nil if absent
}

// fault is the error of an answer.
type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    *data  `json:"data,omitempty"`
}

// data says more about an error.
type data struct {
	Reason     activity.Reason `json:"reason,omitempty"`
	Field      string          `json:"field,omitempty"`      // the member at fault
	ActivityID string          `json:"activityId,omitempty"` // of the activity that waits for approvals
	RetryAfter string          `json:"retryAfter,omitempty"` // duration, such as "30s"
}

func (f *fault) Error() string { return f.Message }

// invalid refuses a parameter.
func invalid(field, format string, args ...any) *fault {
	return &fault{codeParams, field + ": " + fmt.Sprintf(format, args...), &data{Field: field}}
}

// faultOf returns the error of an answer. Members of the API's requests are named as those
// of the JSON-RPC request that they were made from.
func faultOf(err error) *fault {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	refused, ok := errors.AsType[*activity.Error](err)
	if !ok {
		return &fault{codeRefused, "internal error", &data{Reason: activity.ReasonInternal}}
	}
	answered := &fault{codeRefused, refused.Message, &data{Reason: refused.Reason, Field: fields[refused.Field]}}
	if waiting, ok := errors.AsType[*activity.WaitingError](err); ok {
		answered.Data.ActivityID = waiting.ID
	}
	if refused.RetryAfter > 0 {
		answered.Data.RetryAfter = refused.RetryAfter.String()
	}
	switch refused.Reason {
	case activity.ReasonRequestInvalid, activity.ReasonInvalidTransaction, activity.ReasonUnsupportedTransactionType,
		activity.ReasonNotFound:
		answered.Code = codeParams
	}
	return answered
}

// fields are the names of members here, by those of the API's requests.
var fields = map[string]string{"signWith": "from", "unsignedTransaction": "transaction", "payload": "data"}

// readBody reads a body: one request, or a batch. Its error is answered in place of any.
func readBody(body []byte) (requests []request, batch bool, err error) {
	batch = bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("["))
	readCall := func(r *strictjson.Reader) error {
		if len(requests) == maxBatch {
			return fmt.Errorf("more than %d requests in a batch", maxBatch)
		}
		read, err := readRequest(r, body)
		requests = append(requests, read)
		return err
	}
	err = strictjson.ReadValue(body, whatBody, func(r *strictjson.Reader) error {
		if batch {
			return r.Array(readCall)
		}
		return readCall(r)
	})
	switch {
	case err != nil && !json.Valid(body):
		return nil, batch, &fault{codeParse, err.Error(), nil}
	case err != nil:
		return nil, batch, &fault{codeRequest, err.Error(), nil}
	case len(requests) == 0:
		return nil, batch, &fault{codeRequest, "the batch is empty", nil}
	}
	return requests, batch, nil
}

func readRequest(r *strictjson.Reader, body []byte) (request, error) {
	var version, method string
	var id, params strictjson.Value
	err := r.Object(
		strictjson.Required("jsonrpc", &version).AtMost(len(jsonRPC)),
		strictjson.Optional("id", &id),
		strictjson.Required("method", &method).AtMost(maxMethodBytes),
		strictjson.Optional("params", &params),
	)
	switch {
	case err != nil:
		return request{}, err
	case version != jsonRPC:
		return request{}, fmt.Errorf("jsonrpc: expected %q", jsonRPC)
	case id.Kind == 0:
		return request{}, errors.New("id: " + uncheckedNotified)
	case id.Kind != '"' && id.Kind != '0' || id.End-id.Start > maxIdentifier:
		return request{}, fmt.Errorf("id: expected a string or a number of at most %d bytes", maxIdentifier)
	}
	read := request{id: string(id.Of(body)), method: method}
	if params.Kind != 0 {
		read.params = params.Of(body)
	}
	return read, nil
}

// answer is the answer to one request.
type answer struct {
	id     string
	result any
	fault  *fault
}

func appendAnswer(out []byte, a answer) []byte {
	member, value := `,"result":`, a.result
	if a.fault != nil {
		member, value = `,"error":`, a.fault
	}
	text, err := strictjson.Marshal(value)
	if err != nil {
		member, text = `,"error":`, []byte(`{"code":-32000,"message":"internal error"}`)
	}
	out = append(out, `{"jsonrpc":"2.0","id":`...)
	out = append(append(out, a.id...), member...)
	return append(append(out, text...), '}')
}
