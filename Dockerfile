# A static binary and nothing else. The base image is empty, so there is nothing in it to patch.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o /benchgate ./cmd/benchgate

FROM scratch
COPY --from=build /benchgate /benchgate
ENTRYPOINT ["/benchgate"]
