package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func get(path string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	routes("<1.2>", "here").ServeHTTP(answer, httptest.NewRequest("GET", path, nil))
	return answer
}

func TestThePageNamesTheVersionAndEscapesIt(t *testing.T) {
	answer := get("/")
	if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), "go-server &lt;1.2&gt;") {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
}

func TestItIsHealthy(t *testing.T) {
	if code := get("/healthz").Code; code != http.StatusOK {
		t.Fatalf("status %d", code)
	}
}

func TestAnUnknownPathIsNotFound(t *testing.T) {
	if code := get("/nowhere").Code; code != http.StatusNotFound {
		t.Fatalf("status %d", code)
	}
}
