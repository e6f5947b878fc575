package evm

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum/common"
)

//go:embed contracts.txt
var contractsText string

var contracts = sync.OnceValue(func() map[Address]*contract { return readContracts(contractsText) })

// readContracts reads contracts.txt. It panics on a line that is not in its form.
func readContracts(text string) map[Address]*contract {
	byAddress := map[Address]*contract{}
	var at contract
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case line[0] == '\t':
			known := &contract{name: at.name, sets: at.sets, chains: readChains(words[1:])}
			address := hexAddress(words[0])
			if !common.IsHexAddress(words[0]) {
				panic("evm: contracts.txt: " + line)
			}
			if first := byAddress[address]; first != nil {
				first.also = known
				continue
			}
			byAddress[address] = known
		default:
			name, sets, _ := strings.Cut(strings.TrimSpace(line), ":")
			at = contract{name: name}
			for set := range strings.FieldsFuncSeq(sets, func(r rune) bool { return r == ',' }) {
				set := contractSet(strings.TrimSpace(set))
				if !slices.Contains(contractSets, set) {
					panic("evm: contracts.txt: " + line)
				}
				at.sets = append(at.sets, set)
			}
		}
	}
	return byAddress
}

// readChains reads ids of chains. No id stands for every EVM chain.
func readChains(words []string) (chains []uint64) {
	for _, word := range words {
		id, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			panic("evm: contracts.txt: chain " + word)
		}
		chains = append(chains, id)
	}
	return chains
}

func hexAddress(text string) Address { return Address(common.HexToAddress(text)) }
