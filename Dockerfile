# One static binary and the certificates it trusts, run by an account without rights.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags='-s -w' -o /signpost ./cmd/signpost

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /signpost /signpost
USER 65532:65532
# Only inside the container; what is published is said when it is run.
ENV SIGNPOST_HTTP=0.0.0.0:8500 SIGNPOST_DNS=0.0.0.0:8600
EXPOSE 8500/tcp 8600/tcp 8600/udp
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s CMD ["/signpost", "health"]
ENTRYPOINT ["/signpost"]
CMD ["serve"]
