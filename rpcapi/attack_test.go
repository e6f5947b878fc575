package rpcapi_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestMoreContradictions sends what a stranger tries: spellings of integers, addresses and
// members, and objects that say two things. None is signed, and each answer names the member.
func TestMoreContradictions(t *testing.T) {
	const (
		to         = `"to":"0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7"`
		delegation = `{"chainId":"","address":"","nonce":"","yParity":"","r":"","s":""}`
		entry      = `{"address":"0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7","storageKeys":[]}`
		tuple      = `{"chainId":"0x1","address":"0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7","nonce":"0x0","yParity":"0x0","r":"0x1","s":"0x1"}`
		hash       = "0x0100000000000000000000000000000000000000000000000000000000000000"
	)
	type change struct{ old, new, field string }
	var table []change
	for _, member := range []string{"chainId", "nonce", "gas", "maxFeePerGas", "maxPriorityFeePerGas", "value"} {
		var old string
		for _, part := range strings.Split(ordinary, ",") {
			if strings.Contains(part, `"`+member+`":`) {
				old = strings.TrimSpace(part)
			}
		}
		for _, value := range []string{
			`7`, `7.0`, `-7`, `true`, `[]`, `{}`, `["0x7"]`, `""`, `"0x"`, `"0x07"`, `"-0x7"`, `"0x-7"`, `"+0x7"`, `"0x7 "`, `" 0x7"`, `"0x7\n"`, `"0x\u0660"`, `"٧"`, `"7e0"`,
			`"0xg"`, `"0x7_0"`, `"\u00007"`, `"latest"`, `"0x1` + strings.Repeat("0", 64) + `"`, `"0x` + strings.Repeat("f", 4096) + `"`,
		} {
			table = append(table, change{old, `"` + member + `":` + value, member})
		}
	}
	for _, member := range []string{"From", "FROM", "fr\u043em", "chainID", "chain_id", "gasLimit", "maxfeepergas", "Data", "nonce ", "", "__proto__", "v", "r", "s", "hash", "yParity", "blockNumber"} {
		table = append(table, change{`"gasPrice":null`, fmt.Sprintf("%q:%q", member, "0x7"), member})
	}
	table = append(table, []change{
		{to, `"to":""`, "to"}, {to, `"to":"0x"`, "to"}, {to, `"to":"vitalik.eth"`, "to"}, {to, `"to":7`, "to"}, {to, `"to":["0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7"]`, "to"},
		{to, `"to":"0X08d2b0a37f869ff76bacb5bab3278e26ab7067b7"`, "to"}, {to, `"to":"0x08d2b0a37f869ff76bacb5bab3278e26ab7067b700"`, "to"},
		{`"input":"0x"`, `"input":"0x","data":"0x00"`, "data"}, {`"input":"0x"`, `"input":"","data":"0x"`, "input"}, {`"input":"0x"`, `"input":"0xZZ"`, "input"}, {`"input":"0x"`, `"input":[0]`, "input"}, {`"input":"0x"`, `"input":"0X"`, "input"},
		{`"gasPrice":null`, `"accessList":{}`, "accessList"}, {`"gasPrice":null`, `"accessList":"[]"`, "accessList"}, {`"gasPrice":null`, `"accessList":[[]]`, "accessList.0"}, {`"gasPrice":null`, `"accessList":[null]`, "accessList.0"},
		{`"gasPrice":null`, `"accessList":[` + strings.Replace(entry, "address", "Address", 1) + `]`, "accessList.0.Address"},
		{`"gasPrice":null`, `"accessList":[` + strings.Replace(entry, `"storageKeys":[]`, `"storageKeys":null`, 1) + `]`, "accessList.0.storageKeys"},
		{`"gasPrice":null`, `"accessList":[` + strings.Replace(entry, `[]`, `["0x7"]`, 1) + `]`, "accessList.0.storageKeys.0"},
		{`"gasPrice":null`, `"accessList":[` + strings.Replace(entry, `[]`, `[7]`, 1) + `]`, "accessList.0.storageKeys.0"},
		{`"gasPrice":null`, `"accessList":[` + strings.Repeat(entry+",", 1<<14) + entry + `]`, "accessList"},
		{`"gasPrice":null`, `"accessList":[` + strings.Replace(entry, `[]`, `[`+strings.Repeat(`"",`, 1<<14)+`""]`, 1) + `]`, "accessList.storageKeys"},
		{`"gasPrice":null`, `"authorizationList":[` + strings.Repeat(delegation+",", 1<<14) + delegation + `]`, "authorizationList"},
		{`"gasPrice":null`, `"blobVersionedHashes":[` + strings.Repeat(`"",`, 64) + `""]`, "blobVersionedHashes"},
		{`"gasPrice":null`, `"blobs":[` + strings.Repeat(`"",`, 64) + `""]`, "blobs"},
		{`"gasPrice":null`, `"commitments":[` + strings.Repeat(`"",`, 64) + `""]`, "commitments"},
		{`"gasPrice":null`, `"proofs":[` + strings.Repeat(`"",`, 64*128) + `""]`, "proofs"},
		{`"gasPrice":null`, `"authorizationList":null,"type":"0x4"`, "type"}, {`"gasPrice":null`, `"authorizationList":{}`, "authorizationList"},
		{`"gasPrice":null`, `"authorizationList":[` + strings.Replace(tuple, `"chainId":"0x1"`, `"chainId":1`, 1) + `]`, "authorizationList.0.chainId"},
		{`"gasPrice":null`, `"authorizationList":[` + strings.Replace(tuple, `"yParity"`, `"v"`, 1) + `]`, "authorizationList.0.v"},
		{`"gasPrice":null`, `"authorizationList":[` + strings.Replace(tuple, `"nonce":"0x0"`, `"nonce":"0x10000000000000000"`, 1) + `]`, "authorizationList.0.nonce"},
		{`"gasPrice":null`, `"authorizationList":[` + tuple + `],"blobVersionedHashes":["` + hash + `"],"maxFeePerBlobGas":"0x1"`, "blobVersionedHashes"},
		{`"gasPrice":null`, `"authorizationList":[` + tuple + `],"maxFeePerBlobGas":"0x1"`, "maxFeePerBlobGas"},
		{`"gasPrice":null`, `"authorizationList":[` + tuple + `],"commitments":["` + hash + `"]`, "commitments"},
		{`"gasPrice":null`, `"commitments":["` + hash + `"]`, "commitments"}, {`"gasPrice":null`, `"proofs":["` + hash + `"]`, "proofs"}, {`"gasPrice":null`, `"blobVersion":1`, "blobVersion"},
		{`"gasPrice":null`, `"type":2`, "type"}, {`"gasPrice":null`, `"type":"0x02"`, "type"}, {`"gasPrice":null`, `"type":"0x7f"`, "type"}, {`"gasPrice":null`, `"type":""`, "type"},
		{`"gasPrice":null`, `"gasPrice":""`, "gasPrice"}, {`"gasPrice":null`, `"gasPrice":0`, "gasPrice"},
	}...)
	s := newServer(t)
	for _, test := range table {
		changed := strings.Replace(ordinary, test.old, test.new, 1)
		if changed == ordinary {
			t.Fatalf("%s is not in the object", test.old)
		}
		a := s.call("eth_signTransaction", "["+changed+"]")
		if a.Error == nil || a.Error.Code != -32602 && a.Error.Code != -32600 || a.Error.Code == -32602 && strings.Trim(a.Error.Data.Field, `"`) != test.field {
			t.Errorf("%.80s: %s, %+v", test.new, a.Result, a.Error)
		}
	}
	s.WantSignatures(t, 0)
}

// TestStrangeCalls sends calls and bodies that no client sends. None is signed, and none is
// answered with a fault of the server.
func TestStrangeCalls(t *testing.T) {
	const from = `"` + enginetest.Address + `"`
	s := newServer(t, func(c *countersign.Config) { c.AllowHazards = nil })
	signs := `"method":"eth_signTransaction","params":[` + ordinary + `]`
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":null,` + signs + `}`, `{"jsonrpc":"2.0","id":[1],` + signs + `}`, `{"jsonrpc":"2.0","id":true,` + signs + `}`,
		`{"jsonrpc":"2.0",` + signs + `}`, `{"jsonrpc":2.0,"id":1,` + signs + `}`, `{"jsonrpc":"2.0 ","id":1,` + signs + `}`, `{"id":1,` + signs + `}`,
		`{"jsonrpc":"2.0","id":1,` + signs + `,"params":[]}`, `{"jsonrpc":"2.0","id":1,` + signs + `,"method":"eth_accounts"}`, `{"jsonrpc":"2.0","id":1,"Method":"x",` + signs + `}`,
		`[[{"jsonrpc":"2.0","id":1,` + signs + `}]]`, `[{"jsonrpc":"2.0","id":1,` + signs + `},7]`, `[{"jsonrpc":"2.0","id":1,` + signs + `},]`, `[{"jsonrpc":"2.0","id":1,` + signs + `}`,
		`{"jsonrpc":"2.0","id":1,` + signs + `}{}`, `{"jsonrpc":"2.0","id":1,` + signs + "}\x00", "\ufeff" + `{"jsonrpc":"2.0","id":1,` + signs + `}`, `{"jsonrpc":"2.0","id":"` + strings.Repeat("a", 200) + `",` + signs + `}`,
		`{"jsonrpc":"2.0","id":"` + "\xff" + `",` + signs + `}`, `{"jsonrpc":"2.0","id":1,"method":"eth_signTransaction","params":` + ordinary + `}`,
		`{"jsonrpc":"2.0","id":1,"method":"eth_signTransaction","params":[` + ordinary + `,"latest"]}`, `{"jsonrpc":"2.0","id":1,"method":"eth_signTransaction","params":[[` + ordinary + `]]}`,
		`{"jsonrpc":"2.0","id":1,"method":"eth_signTransaction","params":[]}`, `{"jsonrpc":"2.0","id":1,"method":"eth_signTransaction","params":null}`, `{"jsonrpc":"2.0","id":1,"method":"eth_signTransaction","params":"x"}`,
		`{"jsonrpc":"2.0","id":1,"method":"ETH_SIGNTRANSACTION","params":[` + ordinary + `]}`, `{"jsonrpc":"2.0","id":1,"method":"eth_signTransaction ","params":[` + ordinary + `]}`,
		`{"jsonrpc":"2.0","id":1,"method":"personal_sign","params":[` + from + `,"0x68656c6c6f"]}`, `{"jsonrpc":"2.0","id":1,"method":"eth_sign","params":["0x68656c6c6f",` + from + `]}`,
		`{"jsonrpc":"2.0","id":1,"method":"personal_sign","params":["0x68656c6c6f",` + from + `,"password","more"]}`, `{"jsonrpc":"2.0","id":1,"method":"personal_sign","params":["0x68656c6c6f",` + from + `,{}]}`,
		`{"jsonrpc":"2.0","id":1,"method":"eth_sign","params":[` + from + `,"0x` + strings.Repeat("ab", 32) + `"]}`,
		`{"jsonrpc":"2.0","id":1,"method":"eth_sign","params":[` + from + `,null]}`,
		strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 100_000),
	} {
		if status, got := s.post(body); status != http.StatusOK || !strings.Contains(got, `"error":{"code":-32`) || strings.Contains(got, "internal") {
			t.Errorf("%.120s: %d %s", body, status, got)
		}
	}
	s.WantSignatures(t, 0)
}

// TestStrangeHeads sends requests that no HTTP client composes, over one connection each: two
// tokens, several hosts, a target with another host, heads over which two readers could differ, and
// pipelined requests.
func TestStrangeHeads(t *testing.T) {
	s := newServer(t)
	host := strings.TrimPrefix(s.url, "http://")
	body := `{"jsonrpc":"2.0","id":1,"method":"eth_signTransaction","params":[` + strings.Join(strings.Fields(ordinary), "") + `]}`
	const good = "Authorization: Bearer " + token
	head := func(target, named string, lines ...string) string {
		return "POST " + target + " HTTP/1.1\r\nHost: " + named + "\r\nContent-Type: application/json\r\nContent-Length: " + fmt.Sprint(len(body)) + "\r\n" +
			strings.Join(lines, "\r\n") + "\r\n\r\n" + body
	}
	unsized := func(sent string) string {
		return regexp.MustCompile("Content-Length: [0-9]+\r\n").ReplaceAllString(sent, "")
	}
	for name, sent := range map[string]string{
		"two tokens":                head("/", host, good, "Authorization: Bearer 00000000000000000000000000000000"),
		"the same twice":            head("/", host, good, good),
		"two tokens in one":         head("/", host, good+", Bearer "+token),
		"no token":                  head("/", host, "Authorization: Bearer "),
		"a token in another scheme": head("/", host, "Authorization: Digest "+token),
		"an empty password":         head("/", host, "Authorization: Basic YW55Og=="),
		"a password without name":   head("/", host, "Authorization: Basic Og=="),
		"a token as the name":       head("/", host, "Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte(token+":"))),
		"two hosts":                 head("/", host+"\r\nHost: evil.example", good),
		"no host":                   head("/", "", good),
		"a trailing dot":            head("/", "evil.example.", good),
		"an absolute target":        head("http://evil.example/", host, good),
		"a null origin":             head("/", host, good, "Origin: null"),
		"an origin in capitals":     head("/", host, good, "ORIGIN: http://evil.example"),
		"a page's navigation":       head("/", host, good, "Sec-Fetch-Site: none"),
		"two lengths":               head("/", host, good, "Content-Length: 7"),
		"a length and chunks":       head("/", host, good, "Transfer-Encoding: chunked"),
		"a signed length":           strings.Replace(head("/", host, good), "Content-Length: ", "Content-Length: +", 1),
		"two encodings":             unsized(head("/", host, good, "Transfer-Encoding: chunked", "Transfer-Encoding: identity")),
		"an unknown encoding":       head("/", host, good, "Transfer-Encoding: xchunked"),
		"a space before a colon":    strings.Replace(head("/", host, good), "Content-Length:", "Content-Length :", 1),
		"two content types":         head("/", host, good, "Content-Type: text/plain"),
		"the same type twice":       head("/", host, good, "Content-Type: application/json"),
		"a body in gzip":            head("/", host, good, "Content-Encoding: gzip"),
		"OPTIONS":                   strings.Replace(head("/", host, good), "POST", "OPTIONS", 1),
		"CONNECT":                   strings.Replace(head("/", host, good), "POST", "CONNECT", 1),
	} {
		if got := s.raw(host, sent, 1); strings.Contains(got, "0x"+enginetest.Signed) {
			t.Errorf("%s: %s", name, got)
		}
	}
	s.WantSignatures(t, 0)
	pipelined := head("/", host, good)
	if got := s.raw(host, pipelined+head("/", host, "Authorization: Bearer none")+pipelined, 3); strings.Count(got, "0x"+enginetest.Signed) != 2 || strings.Count(got, "401 Unauthorized") != 1 {
		t.Errorf("pipelined: %s", got)
	}
	s.WantSignatures(t, 1)
}

// raw writes bytes to a connection and returns the bytes of so many answers.
func (s *server) raw(address, sent string, answers int) string {
	s.t.Helper()
	connection, err := net.Dial("tcp", address)
	testenv.Must(s.t, err)
	defer connection.Close()
	if _, err := io.WriteString(connection, sent); err != nil {
		s.t.Fatal(err)
	}
	var got strings.Builder
	for reader := bufio.NewReader(io.TeeReader(connection, &got)); answers > 0; answers-- {
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			break
		}
		_, _ = io.Copy(io.Discard, response.Body)
	}
	return got.String()
}
