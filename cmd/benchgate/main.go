// Command benchgate is a regression gate for LLM inference servers: it measures a server again and again, tells a real
// change from the noise between runs, and answers with an exit code that a merge pipeline can believe.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	log.SetOutput(io.Discard) // net/http prints there whatever bytes a server sends behind its answer
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	stop()
	os.Exit(code)
}
