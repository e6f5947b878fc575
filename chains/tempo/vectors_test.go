package tempo_test

import (
	"testing"

	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/internal/evmtest"
)

// TestContract runs the contract of all chains.
func TestContract(t *testing.T) { evmtest.RunContract(t, tempo.Chain{}) }

func TestVectors(t *testing.T) { evmtest.RunVectors(t, tempo.Chain{}) }
