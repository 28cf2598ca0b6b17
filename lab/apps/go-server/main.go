package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

//go:embed templates/index.html
var indexHTML string

var index = template.Must(template.New("index").Parse(indexHTML))

func routes(version, host string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		var page bytes.Buffer
		data := map[string]string{"App": "go-server", "Version": version, "Host": host}
		if err := index.Execute(&page, data); err != nil {
			log.Printf("index: %v", err)
			http.Error(w, "internal server error", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		page.WriteTo(w)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "ok")
	})
	return mux
}

func run() error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("0.0.0.0", cmp.Or(os.Getenv("PORT"), "8080")))
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           routes(cmp.Or(os.Getenv("APP_VERSION"), "dev"), host),
		ReadHeaderTimeout: 10 * time.Second,
	}

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	log.Printf("Listening on %s", listener.Addr())

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	log.Print("Stopping: finishing the requests in flight")
	deadline, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := server.Shutdown(deadline); err != nil {
		return err
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
