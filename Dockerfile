# The static binary and the certificates of the public authorities, so that https:// targets can be checked. There is nothing
# else in the image to patch. `make image` puts both where this file looks for them, builds the image and runs it.
#
# There is no shell. A server that benchgate starts inside the image has to be added to it, and the guard that ends such a
# server when benchgate itself is killed needs /bin/sh: without it the parent-death signal of Linux remains, which reaches
# the server's first process but not those that it started.
FROM scratch
COPY dist/image/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY dist/image/benchgate /benchgate
ENTRYPOINT ["/benchgate"]
