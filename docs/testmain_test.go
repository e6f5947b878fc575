//go:build unix

package docs_test

import (
	"testing"

	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// TestMain makes this program the countersign of the documents' commands, with keystores that open fast.
func TestMain(m *testing.M) { clitest.Main(m, nil) }
