/* serve.h -- the one thing of lsp that others call. */
#ifndef TL_LSP_SERVE_H
#define TL_LSP_SERVE_H

/* Until the client says exit; the process's exit code. */
int lsp_serve(const char *target);

#endif
