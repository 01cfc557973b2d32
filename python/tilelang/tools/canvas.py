"""Rectangles and words on a page, written as SVG, PDF or PNG without other packages."""

import zlib

# Letters of 5 by 7 points, a number of 5 bits for each row.
_FONT = {
    "0": "14 17 19 21 25 17 14", "1": "4 12 4 4 4 4 14", "2": "14 17 1 2 4 8 31",
    "3": "31 2 4 2 1 17 14", "4": "2 6 10 18 31 2 2", "5": "31 16 30 1 1 17 14",
    "6": "6 8 16 30 17 17 14", "7": "31 1 2 4 8 8 8", "8": "14 17 17 14 17 17 14",
    "9": "14 17 17 15 1 2 12", "A": "14 17 17 17 31 17 17", "B": "30 17 17 30 17 17 30",
    "C": "14 17 16 16 16 17 14", "D": "28 18 17 17 17 18 28", "E": "31 16 16 30 16 16 31",
    "F": "31 16 16 30 16 16 16", "G": "14 17 16 23 17 17 15", "H": "17 17 17 31 17 17 17",
    "I": "14 4 4 4 4 4 14", "J": "7 2 2 2 2 18 12", "K": "17 18 20 24 20 18 17",
    "L": "16 16 16 16 16 16 31", "M": "17 27 21 21 17 17 17", "N": "17 17 25 21 19 17 17",
    "O": "14 17 17 17 17 17 14", "P": "30 17 17 30 16 16 16", "Q": "14 17 17 17 21 18 13",
    "R": "30 17 17 30 20 18 17", "S": "15 16 16 14 1 1 30", "T": "31 4 4 4 4 4 4",
    "U": "17 17 17 17 17 17 14", "V": "17 17 17 17 17 10 4", "W": "17 17 17 21 21 21 10",
    "X": "17 17 10 4 10 17 17", "Y": "17 17 17 10 4 4 4", "Z": "31 1 2 4 8 16 31",
    "+": "0 4 4 31 4 4 0", "-": "0 0 0 31 0 0 0", ">": "8 4 2 1 2 4 8", ",": "0 0 0 0 12 4 8",
    ".": "0 0 0 0 0 12 12", "(": "2 4 8 8 8 4 2", ")": "8 4 2 2 2 4 8", "[": "14 8 8 8 8 8 14",
    "]": "14 2 2 2 2 2 14", "_": "0 0 0 0 0 0 31", ":": "0 12 12 0 12 12 0",
    "/": "0 1 2 4 8 16 0", "*": "0 4 21 14 21 4 0", "=": "0 0 31 0 31 0 0",
}
_FONT = {c: [int(n) for n in rows.split()] for c, rows in _FONT.items()}


class Canvas:
    def __init__(self, width, height):
        self.width, self.height = int(width), int(height)
        self.boxes = []  # x, y, width, height, (r, g, b)
        self.words = []  # x, y of the middle, size, text

    def box(self, x, y, width, height, color):
        self.boxes.append((x, y, width, height, color))

    def word(self, x, y, size, text):
        self.words.append((x, y, size, str(text)))

    def save(self, path):
        kind = path.rsplit(".", 1)[-1]
        with open(path, "wb") as f:
            f.write({"svg": self._svg, "pdf": self._pdf, "png": self._png}[kind]())

    # ---- SVG

    def _svg(self):
        size = "%d %d" % (self.width, self.height)
        out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %s" '
               'font-family="DejaVu Sans Mono, monospace" text-anchor="middle">'
               % (self.width, self.height, size), '<rect width="100%" height="100%" fill="#fff"/>']
        for x, y, w, h, c in self.boxes:
            out.append('<rect x="%g" y="%g" width="%g" height="%g" fill="#%02x%02x%02x" '
                       'stroke="#222" stroke-width=".6"/>' % ((x, y, w, h) + tuple(c)))
        for x, y, size, text in self.words:
            text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
            out.append('<text x="%g" y="%g" font-size="%g">%s</text>'
                       % (x, y + size * 0.35, size, text))
        return "\n".join(out + ["</svg>\n"]).encode()

    # ---- PDF: one page, the built-in Courier, whose letters are 0.6 of their size wide

    def _page(self):
        out = [".6 w .13 G"]
        for x, y, w, h, c in self.boxes:
            out.append("%.3f %.3f %.3f rg %g %g %g %g re B"
                       % (*(v / 255 for v in c), x, self.height - y - h, w, h))
        out.append("0 g BT")
        for x, y, size, text in self.words:
            text = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
            out.append("/F %g Tf 1 0 0 1 %.2f %.2f Tm (%s) Tj"
                       % (size, x - 0.3 * size * len(text), self.height - y - size * 0.35, text))
        return zlib.compress("\n".join(out + ["ET"]).encode("latin-1", "replace"))

    def _pdf(self):
        page = self._page()
        parts = [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 %d %d]/Contents 4 0 R"
            b"/Resources<</Font<</F 5 0 R>>>>>>" % (self.width, self.height),
            b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(page), page),
            b"<</Type/Font/Subtype/Type1/BaseFont/Courier>>",
        ]
        out, places = b"%PDF-1.4\n", []
        for i, part in enumerate(parts):
            places.append(len(out))
            out += b"%d 0 obj%s endobj\n" % (i + 1, part)
        table = b"".join(b"%010d 00000 n \n" % at for at in places)
        return out + (b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\n"
                      b"startxref\n%d\n%%%%EOF\n" % (len(parts) + 1, table, len(parts) + 1, len(out)))

    # ---- PNG, twice as fine

    SCALE = 2

    def _fill(self, rows, x, y, w, h, color):
        bottom, right = min(y + h, len(rows)), min(x + w, len(rows[0]) // 3)
        line = bytes(color) * max(right - max(x, 0), 0)
        for r in range(max(y, 0), bottom):
            rows[r][3 * max(x, 0) : 3 * right] = line

    def _letters(self, rows, x, y, size, text):
        dot = max(1, round(size * self.SCALE / 10))
        x = round(x * self.SCALE - 3 * dot * len(text) + dot / 2)
        y = round(y * self.SCALE - 3.5 * dot)
        for c in text.upper():
            for r, bits in enumerate(_FONT.get(c, [0] * 7)):
                for b in range(5):
                    if bits >> (4 - b) & 1:
                        self._fill(rows, x + b * dot, y + r * dot, dot, dot, (20, 20, 20))
            x += 6 * dot

    def _png(self):
        s = self.SCALE
        width, height = self.width * s, self.height * s
        rows = [bytearray(b"\xff" * 3 * width) for _ in range(height)]
        for x, y, w, h, color in self.boxes:
            x0, y0, x1, y1 = (round(v * s) for v in (x, y, x + w, y + h))
            self._fill(rows, x0, y0, x1 - x0 + 1, y1 - y0 + 1, (34, 34, 34))
            self._fill(rows, x0 + 1, y0 + 1, x1 - x0 - 1, y1 - y0 - 1, color)
        for word in self.words:
            self._letters(rows, *word)
        data = zlib.compress(b"".join(b"\0" + r for r in rows), 6)

        def chunk(kind, body):
            return len(body).to_bytes(4, "big") + kind + body + \
                zlib.crc32(kind + body).to_bytes(4, "big")

        head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x02\0\0\0"
        return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + \
            chunk(b"IEND", b"")
