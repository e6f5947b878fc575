package interop

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/descriptors"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// solanaClientHazards are the hazards of the transactions that have any.
var solanaClientHazards = map[string][]string{
	"token burn":                                {solana.HazardBurn},
	"token-2022 burn":                           {solana.HazardBurn},
	"token mint authority given up":             {solana.HazardAuthorityChange},
	"token-2022 mint authority given up":        {solana.HazardAuthorityChange},
	"stake authorize another":                   {solana.HazardAuthorityChange},
	"web3.js assign":                            {solana.HazardAuthorityChange},
	"transfer to an entry of a lookup table":    {solana.HazardUnresolvedAccount},
	"swap by an aggregator with a lookup table": {solana.HazardBlindCall},
}

// solanaClient is a transaction that a client writes.
type solanaClient struct {
	Name, Transaction string
	Lookups           map[string][]string // the entries of the lookup tables that it uses
	Names             map[string]string   // of addresses
}

// ready parses the transaction and has the key of its payer ready.
func (c *solanaClient) ready(t *testing.T, keys map[string]keystore.Key) (chains.Transaction, chains.Signing) {
	t.Helper()
	tx, err := solana.Chain{}.Parse(testenv.Hex(t, c.Transaction))
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	payer := tx.Effects()[0].From.String()
	signing, err := chaintest.Ready(tx, payer, keys[payer])
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	return tx, signing
}

// TestSolanaClients checks that the transactions of the current clients of Solana's
// programs, and of the older web3.js, are fully decoded except for the swap's program, and
// signed by default unless they give something away.
func TestSolanaClients(t *testing.T) {
	keys := solanaSigners(t)
	var counts testenv.Outcomes
	withTables := 0
	for _, c := range printed[solanaClient](t, "solanaclients.mjs") {
		tx, signing := c.ready(t, keys)
		hazards := chaintest.Names(signing.Hazards())
		if want := solanaClientHazards[c.Name]; !slices.Equal(hazards, want) {
			t.Errorf("%s: hazards %v, want %v", c.Name, hazards, want)
		}
		counts.Add(isBlind(signing.Effects()), len(hazards))
		if len(c.Lookups) > 0 {
			withTables++
			read, readings := chains.ReadWith(tx, pinnedTables(t, c.Lookups))
			hazards = chaintest.Names(read.Hazards())
			if slices.Contains(hazards, solana.HazardUnresolvedAccount) || len(readings) != 1 || !readings[0].Complete {
				t.Errorf("%s: with its lookup table pinned: %v %+v", c.Name, hazards, readings)
			}
		}
	}
	if withTables != 2 {
		t.Errorf("%d transactions with lookup tables", withTables)
	}
	testenv.ClientRow(t, "@solana-program/*, web3.js", counts)
	t.Logf("by default: %+v", counts)
}

// pinnedTables returns a folder with a pinned file for each lookup table.
func pinnedTables(t *testing.T, tables map[string][]string) *descriptors.Folder {
	t.Helper()
	files := fstest.MapFS{}
	for address, entries := range tables {
		file := testenv.Encode(t, map[string]any{"lookupTableAddress": address, "lastExtendedSlot": 1, "addresses": entries})
		files[address+".json"] = &fstest.MapFile{Data: file}
	}
	pins := &descriptors.Pins{}
	for range 2 {
		folder, err := descriptors.Open(files, descriptors.Options{Pins: pins})
		testenv.Must(t, err)
		for _, file := range folder.Files() {
			if file.Trust != "" {
				return folder
			}
			pins.Add(file)
		}
	}
	t.Fatal("the tables cannot be pinned")
	return nil
}
