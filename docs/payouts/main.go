// Command payouts is the service of docs/embedding.md: rules with approvals, an ABI of its own,
// metrics, and its records in PostgreSQL or, without DATABASE_URL, in a file.
package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/descriptors"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/metrics"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/stamp"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/store/postgres"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	organization := access.OrganizationConfig{ID: "payouts", Name: "Payouts", Users: []access.UserConfig{
		user("bot", "agent"), // may send everything but votes
		user("ann", "finance", activity.TypeApproveActivity, activity.TypeRejectActivity),
	}}
	keys := must(file.OpenOrCreate(ctx, "keys", []byte(os.Getenv("PASSPHRASE")), file.Options{}))
	names := must(policy.NamesOf(ctx, &organization, keys))
	rules := must(policy.Load("policy.yaml", policy.Options{
		Chains: all.Chains(all.Limits{}), Hazards: messages.HazardNames(), Names: names,
	}))
	pins := must(descriptors.ReadPins(must(os.ReadFile("pins"))))
	observer := metrics.New()
	engine := must(countersign.New(countersign.Config{
		Chains:      all.Chains(all.Limits{}),
		Operations:  messages.Operations(), // permits and other typed data
		Keystore:    keys,
		Store:       records(ctx, os.Getenv("DATABASE_URL")),
		Directory:   must(access.NewDirectory([]access.OrganizationConfig{organization})),
		Policy:      rules,
		Descriptors: must(descriptors.Open(os.DirFS("descriptors"), descriptors.Options{Pins: pins})),
		Logger:      slog.Default(),
		Observer:    observer,
	}))
	admin := httpapi.NewServer(httpapi.Admin(engine, observer.Handler()))
	server := httpapi.NewServer(httpapi.New(engine, httpapi.Options{}))
	admin.Addr, server.Addr = os.Getenv("ADMIN"), os.Getenv("LISTEN")
	go func() { slog.Info("admin", "ended", admin.ListenAndServe()) }()
	ended := make(chan error, 1)
	context.AfterFunc(ctx, func() {
		ended <- errors.Join(server.Shutdown(context.Background()), admin.Shutdown(context.Background()))
	})
	served := server.ListenAndServe()
	stop() // also if it ended by itself
	slog.Info("stopped", "serve", served, "shutdown", <-ended, "close", engine.Close())
}

// user returns a user with one API key, whose public half is in the environment.
func user(name, tag string, may ...activity.Type) access.UserConfig {
	key := access.APIKeyConfig{Curve: stamp.CurveP256, PublicKey: os.Getenv(name), Activities: may}
	return access.UserConfig{Name: name, Tags: []string{tag}, APIKeys: []access.APIKeyConfig{key}}
}

// records opens the database at an address, or a file.
func records(ctx context.Context, address string) store.Store {
	if address != "" {
		return must(postgres.Open(ctx, address))
	}
	return must(bolt.Open("state.db"))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
