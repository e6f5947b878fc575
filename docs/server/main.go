// Command server is the complete server of docs/embedding.md. It takes the
// address to listen on, an organization's id and the public half of an API key.
package main

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/stamp"
	"github.com/countersign-dev/countersign/store/bolt"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	user := access.UserConfig{Name: "ci", APIKeys: []access.APIKeyConfig{{Curve: stamp.CurveP256, PublicKey: os.Args[3]}}}
	organization := access.OrganizationConfig{ID: os.Args[2], Name: "Example", Users: []access.UserConfig{user}}
	engine := must(countersign.New(countersign.Config{
		Chains:    all.Chains(all.Limits{}),
		Keystore:  must(file.Open(ctx, "keys", bytes.TrimRight(must(os.ReadFile("passphrase")), "\n"), file.Options{})),
		Store:     must(bolt.Open("state.db")),
		Directory: must(access.NewDirectory([]access.OrganizationConfig{organization})),
		Logger:    slog.Default(),
	}))
	server := httpapi.NewServer(httpapi.New(engine, httpapi.Options{}))
	ended := make(chan error, 1)
	context.AfterFunc(ctx, func() { ended <- server.Shutdown(context.Background()) })
	served := server.Serve(must(new(net.ListenConfig).Listen(ctx, "tcp", os.Args[1])))
	stop() // also if it ended by itself
	slog.Info("stopped", "serve", served, "shutdown", <-ended, "close", engine.Close())
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
