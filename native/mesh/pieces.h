/* The pieces of the body around one tet: parts of the surface that hang together there, through the surface or through the
   flesh behind it. */
#ifndef SN_MESH_PIECES_H
#define SN_MESH_PIECES_H

#include "mesh/shells.h"

#define SN_PIECES_PLANES 10

/* A tet in lattice coordinates, and the convex region around it. */
typedef struct SnPiecesTet {
    double corners[4][3];
    double planes[SN_PIECES_PLANES][4]; /* faces, then the sides of the box: unit normal inwards, and height: n . x + h >= 0 inside */
    double low[3], high[3];
} SnPiecesTet;

/* corners: lattice coordinates. */
void sn_pieces_tet_init(const double corners[4][3], SnPiecesTet *tet);

/* Whether any of a triangle lies within `margin` cells of the tet; `middle` receives a place on the
   triangle, near the middle of that part. */
int sn_pieces_holds(const SnShells *shells, const SnPiecesTet *tet, double margin, size_t triangle, double middle[3]);

typedef struct SnPiecesTriangle {
    int32_t triangle;
    int32_t place;    /* in the tree: they come in this order */
    int32_t piece;    /* 0..count-1 */
    double middle[3]; /* about, of the part that lies in the region */
} SnPiecesTriangle;

typedef struct SnPiecesKey {
    int64_t key;  /* a vertex or an edge; 0: nothing here */
    int32_t item; /* of `triangles`, the first that has it */
} SnPiecesKey;

/* Used for one tet after the other; grows as needed. */
typedef struct SnPieces {
    SnContext *context;
    int count;                   /* pieces; 0: the tet is bare */
    size_t triangle_count, triangle_capacity;
    SnPiecesTriangle *triangles; /* owned */
    int32_t *parents;            /* of the triangles, while they are joined: union_find.h; owned */
    size_t key_count, key_capacity; /* a power of two */
    SnPiecesKey *keys;           /* owned */
} SnPieces;

void sn_pieces_init(SnContext *context, SnPieces *pieces);
void sn_pieces_clear(SnPieces *pieces);

/* Finds the pieces within `margin` cells of the tet: at most `most`, further ones go with the last. Hidden triangles are left out. */
SnStatus sn_pieces_find(const SnShells *shells, const SnPiecesTet *tet, double margin, int most, SnPieces *pieces);

/* Squared distance from a point to the nearest triangle of one piece, and whether the point is in its flesh. */
double sn_pieces_side(const SnShells *shells, const SnPieces *pieces, int piece, const double point[3], int *inside);

#endif
