package rpcapi_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/rpcapi"
)

// Callers are users of the directory, whom a token, a certificate or the owner of a process
// identifies. In production, serve the handler with httpapi.NewServer over TLS.
func ExampleNew() {
	directory, err := access.NewDirectory([]access.OrganizationConfig{{
		ID: "my-organization", Users: []access.UserConfig{{ID: "batcher", Name: "batcher"}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	token := strings.Repeat("7", rpcapi.MinToken) // random in production
	users, err := rpcapi.NewUsers([]rpcapi.User{{OrganizationID: "my-organization", UserID: "batcher", Token: token}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	current := func() *rpcapi.Users { return users }
	keys := memory.New()
	engine, err := countersign.New(countersign.Config{
		Chains: []chains.Chain{ethereum.Chain{}}, Keystore: keys, Directory: rpcapi.Directory(directory, current),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	server := httptest.NewServer(rpcapi.New(engine, rpcapi.Options{
		Users: current, Directory: directory.(access.Users), Keystore: keys, ChainID: 1,
		Host: func(host string) bool { return strings.HasPrefix(host, "127.0.0.1:") },
	}))
	defer server.Close()

	request, err := http.NewRequest(http.MethodPost, server.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}`))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	fmt.Println(strings.TrimSpace(string(text)), err)
	// Output: {"jsonrpc":"2.0","id":1,"result":"0x1"} <nil>
}
