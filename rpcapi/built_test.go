package rpcapi_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/countersign-dev/countersign/rpcapi"
)

// manyElements are the elements of 4 MiB.
var manyElements = strings.Repeat("1,", rpcapi.MaxBodyBytes/2-1000) + "1"

// TestBuiltFromBody sends each method 2 million parameters, and each array of a transaction as many
// elements: it is refused before much of it has been built.
func TestBuiltFromBody(t *testing.T) {
	s := newServer(t)
	bodies := map[string]string{}
	for _, method := range []string{
		"eth_signTransaction", "account_signTransaction", "eth_signTypedData", "eth_signTypedData_v4", "personal_sign", "eth_sign",
		"account_signData", "eth_accounts", "account_list", "eth_chainId", "account_version", "health_status",
	} {
		bodies[method] = fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":[%s]}`, method, manyElements)
	}
	texts := strings.Repeat(`"",`, rpcapi.MaxBodyBytes/3-1000) + `""`
	for member, elements := range map[string]string{
		"accessList":        strings.Repeat(`{"address":"","storageKeys":[]},`, rpcapi.MaxBodyBytes/32-1000) + `{"address":"","storageKeys":[]}`,
		"storageKeys":       texts,
		"authorizationList": strings.Repeat(`{"chainId":"","address":"","nonce":"","yParity":"","r":"","s":""},`, rpcapi.MaxBodyBytes/66-1000) + `{}`,
		"blobs":             texts, "commitments": texts, "proofs": texts, "blobVersionedHashes": texts,
	} {
		list := fmt.Sprintf("%q:[%s]", member, elements)
		if member == "storageKeys" {
			list = fmt.Sprintf(`"accessList":[{"address":"",%s}]`, list)
		}
		bodies[member] = fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"eth_signTransaction","params":[{%s}]}`, list)
	}
	// What reading 4 MiB allocates: the buffer as it grows, and the client's own copies.
	const most = 32 << 20
	for name, body := range bodies {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		status, answer := s.post(body)
		runtime.ReadMemStats(&after)
		if status != http.StatusOK || !strings.Contains(answer, "-32602") {
			t.Errorf("%s: %d %.200s", name, status, answer)
		}
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > most {
			t.Errorf("%s: %d MiB are allocated", name, allocated>>20)
		}
	}
}

// TestBuiltCounts: what is built from a body is a part of its user's share while the call is
// carried out. Another call of the user that is too long beside it is told to come again, and
// what others ask for is answered.
func TestBuiltCounts(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	var blocks atomic.Bool
	s := newServerOf(t, twoUsers(t, 4<<20))
	s.Signing.Before = func(context.Context) error {
		if blocks.CompareAndSwap(true, false) {
			close(entered)
			<-leave
		}
		return nil
	}
	long := func(nonce int) string {
		data := strings.Repeat("ab", 60<<10)
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"eth_signTransaction","params":[%s]}`,
			strings.NewReplacer(`"nonce":"0x7"`, fmt.Sprintf(`"nonce":"0x%x"`, nonce), `"input":"0x"`, `"input":"0x`+data+`"`).Replace(ordinary))
	}
	blocks.Store(true)
	first := make(chan string, 1)
	go func() { _, text := s.post(long(1)); first <- text }()
	select {
	case <-entered:
	case text := <-first:
		t.Fatalf("the first: %.200s", text)
	}
	if _, text := s.post(long(2)); !strings.Contains(text, "too many long requests") {
		t.Errorf("a second: %.200s", text)
	}
	short := strings.Replace(`{"jsonrpc":"2.0","id":7,"method":"eth_signTransaction","params":[`+ordinary+`]}`, `"0x7"`, `"0x3"`, 1)
	for who, headers := range map[string][]string{"the user": nil, "another": {"Authorization", "Bearer " + otherToken}} {
		if _, text := s.post(short, headers...); !strings.Contains(text, `"result"`) {
			t.Errorf("a short one by %s: %s", who, text)
		}
	}
	if _, text := s.post(strings.Replace(long(4), `"0x4"`, `"0x4"`, 1), "Authorization", "Bearer "+otherToken); !strings.Contains(text, `"result"`) {
		t.Errorf("a long one by another: %.200s", text)
	}
	close(leave)
	if text := <-first; !strings.Contains(text, `"result"`) {
		t.Errorf("the first: %.200s", text)
	}
	if _, text := s.post(long(2)); !strings.Contains(text, `"result"`) {
		t.Errorf("the second, again: %.200s", text)
	}
}
