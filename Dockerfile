# A static binary and the certificates of the public authorities, so that https:// targets can be checked. The base image is
# empty: there is nothing else in it to patch.
#
# There is no shell. A server that benchgate starts inside the image has to be added to it, and the guard that ends such a
# server when benchgate itself is killed needs /bin/sh: without it the parent-death signal of Linux remains, which reaches
# the server's first process but not those that it started.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o /benchgate ./cmd/benchgate

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /benchgate /benchgate
ENTRYPOINT ["/benchgate"]
