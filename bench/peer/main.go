// Benthos with the components the bench needs. Standard input is held open by whoever started it:
// its end means that the starter is gone.
package main

import (
	"context"
	"io"
	"os"

	_ "github.com/redpanda-data/benthos/v4/public/components/io"
	_ "github.com/redpanda-data/benthos/v4/public/components/pure"
	"github.com/redpanda-data/benthos/v4/public/service"
)

func main() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(9)
	}()
	service.RunCLI(context.Background())
}
