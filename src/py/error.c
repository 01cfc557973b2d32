/* error.c -- messages of the library into exceptions of Python.  Which class an exception has is
 * decided in Python (tilelang/_errors.py), by the tag. */
#include "py/py.h"

static void py_raise(tl_status s, const char *tag, const char *text, Span at)
{
    PyObject *e = NULL;
    if (PyErr_Occurred()) /* it says more than we could */
        return;
    if (py.make_error)
        e = PyObject_CallFunction(py.make_error, "isszii", (int)s, tag ? tag : "", text,
                                  at.src ? at.src->name : NULL, (int)at.line, (int)at.col);
    if (e)
        PyErr_SetObject((PyObject *)Py_TYPE(e), e);
    else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError, text);
    Py_XDECREF(e);
}

/* The tag stands in brackets at the end of the first line, or of the text. */
void py_raise_text(tl_status s, const char *text)
{
    char tag[64] = "";
    const char *end = text + strlen(text);
    while (end > text && (end[-1] == '\n' || end[-1] == ' '))
        end--;
    const char *line = strchr(text, '\n');
    if (line && line > text && line[-1] == ']')
        end = line;
    if (end > text && end[-1] == ']') {
        const char *open = end - 1;
        while (open > text && *open != '[')
            open--;
        size_t n = (size_t)(end - 1 - open) - 1;
        if (*open == '[' && n < sizeof tag) {
            memcpy(tag, open + 1, n);
            tag[n] = 0;
        }
    }
    py_raise(s, tag, text, NO_SPAN);
}

static void add_note(PyObject *e, const Diag *d)
{
    const Message *m = NULL;
    for (int i = 0; i < d->list.n && !m; i++)
        if (d->list.at[i].kind == DIAG_ERROR && d->list.at[i].span.src)
            m = &d->list.at[i];
    if (!m)
        return;
    PyObject *note = PyUnicode_FromFormat("while tracing %s:%d:%d", m->span.src->name,
                                          (int)m->span.line, (int)m->span.col);
    PyObject *list = PyObject_GetAttrString(e, "__notes__");
    if (!list) {
        PyErr_Clear();
        list = PyList_New(0);
        if (list)
            PyObject_SetAttrString(e, "__notes__", list);
    }
    if (list && note && PyList_Check(list))
        PyList_Append(list, note);
    PyErr_Clear();
    Py_XDECREF(list);
    Py_XDECREF(note);
}

void py_refuse(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    PyObject *text = PyUnicode_FromFormatV(format, list);
    va_end(list);
    const char *utf8 = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    if (utf8)
        py_raise_text(TL_EUSER, utf8);
    Py_XDECREF(text);
}

/* Errors with their notes, without warnings. */
static const Message *put_errors(const Diag *d, Str *out)
{
    const Message *first = NULL;
    bool wanted = false;
    Diag shown = *d;
    shown.list.n = 0;
    shown.list.at = NEWN(d->arena, Message, d->list.n + 1);
    for (int i = 0; i < d->list.n; i++) {
        const Message *m = &d->list.at[i];
        if (m->kind != DIAG_NOTE)
            wanted = m->kind == DIAG_ERROR;
        if (wanted)
            shown.list.at[shown.list.n++] = *m;
        if (wanted && !first)
            first = m;
    }
    diag_render(&shown, out, false);
    return first;
}

/* The first error gives class and place; all of them are the text. */
void py_raise_errors(tl_status status, Diag *d)
{
    Recover r;
    Str s;
    if (recover_open(&r) != 0) {
        PyErr_NoMemory();
        return;
    }
    str_init(&s, d->arena);
    const Message *first = put_errors(d, &s);
    recover_close(&r);
    py_raise(status, first ? first->tag : NULL, s.s, first ? first->span : NO_SPAN);
}

void py_raise_diag(PyTrace *t, const Recover *r)
{
    Diag *d = t->ev ? t->ev->diag : &t->k->build.diag;
    if (t->etype) {
        PyErr_NormalizeException(&t->etype, &t->evalue, &t->etrace);
        if (t->evalue)
            add_note(t->evalue, d);
        PyErr_Restore(t->etype, t->evalue, t->etrace);
        t->etype = t->evalue = t->etrace = NULL;
        return;
    }
    if (r->status != STATUS_USER || d->nerror == 0) {
        py_raise_text((tl_status)r->status, r->text[0] ? r->text : "something went wrong");
        return;
    }
    py_raise_errors((tl_status)r->status, d);
}
