package main

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// initBudgets bound the objects that a package of this module allocates before main, which
// every command pays for. The bound of a package that is not listed is initBudget.
var initBudgets = map[string]int{
	"chains/solana":     5500, // the tables of its programs
	"chains/tron":       500,  // the table of its contracts
	"internal/evm":      900,
	"internal/cli/sign": 800,
}

const (
	initBudget = 400
	initTotal  = 11_000 // of all packages of this module
)

// TestInitIsSmall starts the process as each command does, and reads what its packages
// allocated by then.
func TestInitIsSmall(t *testing.T) {
	const module = "github.com/countersign-dev/countersign/"
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	command.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	line := regexp.MustCompile(`(?m)^init ` + module + `(\S+) @.* (\d+) allocs$`)
	total, packages := 0, 0
	for _, match := range line.FindAllStringSubmatch(string(output), -1) {
		objects, err := strconv.Atoi(match[2])
		testenv.Must(t, err)
		most, listed := initBudgets[match[1]]
		if !listed {
			most = initBudget
		}
		if objects > most {
			t.Errorf("%s allocates %d objects before main, at most %d are in the budget: make its tables when they are first used", match[1], objects, most)
		}
		total, packages = total+objects, packages+1
	}
	if total > initTotal || packages < 20 || !strings.Contains(string(output), module+"chains/solana") {
		t.Errorf("%d objects in %d packages, at most %d are in the budget", total, packages, initTotal)
	}
}
