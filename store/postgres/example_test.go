package postgres_test

import (
	"context"
	"log"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/store/postgres"
)

// A store that several nodes share. The tables are made at the first start.
func ExampleOpen() {
	records, err := postgres.Open(context.Background(), "postgres://countersign@db.example.com/countersign?sslmode=verify-full")
	if err != nil {
		log.Fatal(err)
	}
	engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: memory.New(), Store: records})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
}
