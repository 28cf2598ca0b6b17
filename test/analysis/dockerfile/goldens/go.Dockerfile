FROM golang:1.24 AS build
WORKDIR /app
ENV CGO_ENABLED=0
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod \
    --mount=type=cache,target=/root/.cache/go-build \
    go mod download
COPY . ./
RUN --mount=type=cache,target=/go/pkg/mod \
    --mount=type=cache,target=/root/.cache/go-build \
    go build -o bin/ ./cmd/server ./cmd/worker

FROM debian:trixie-slim
RUN groupadd --gid 10001 app && useradd --uid 10001 --gid 10001 --create-home app && install -d -o 10001 -g 10001 /app
WORKDIR /app
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /app/bin/server ./bin/server
COPY --from=build /app/bin/worker ./bin/worker
COPY --from=build --chown=10001:10001 /app/templates/ ./templates/
ENV PORT=8080
USER 10001:10001
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/$PORT && printf \"GET %s HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n\" \"$1\" >&3 && read -r -t 4 _ status _ <&3 && [ \"$status\" -lt \"$2\" ]", "health", "/healthz", "400"]
CMD ["/bin/sh", "-c", "exec ./bin/server --listen :$PORT"]
