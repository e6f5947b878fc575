package keys_test

import (
	"testing"

	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m, nil) }
