package ethereum_test

import (
	"testing"

	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/evmtest"
)

// TestContract runs the contract of all chains.
func TestContract(t *testing.T) { evmtest.RunContract(t, ethereum.Chain{}) }

func TestVectors(t *testing.T) { evmtest.RunVectors(t, ethereum.Chain{}) }
